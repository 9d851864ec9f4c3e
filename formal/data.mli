(* What other files can use of data.ml. They cannot write to its numbers. *)

open Kalah

val rule_sets : (int * string * rules) list
val number : row -> int
val width : int -> int -> int
val limits : string
val within_limits : int -> int -> bool

type table = { m : int; frames : string array array }

val copy : table -> table
val score_in : table -> position -> int
val split : int -> 'a list -> 'a list * 'a list
val key : position -> int
val shards : int
val key_of : int -> int
val lower_of : int -> int
val upper_of : int -> int
val pack : int -> int -> int -> int
val shard_of : int -> int
val slot : int array -> int -> int
val position_of : int -> int -> position
val taken : int array array -> int array array
val count : int array array -> int
val claim_in : int array array -> int -> int -> claim
val find_in : int array array -> position -> int
