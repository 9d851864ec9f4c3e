(* What other files can use of data.ml. They cannot write to its numbers. *)

open Kalah

val rule_sets : (int * string * rules) list
val number : row -> int
val width : int -> int -> int
val limits : string
val within_limits : int -> int -> bool
val within_tables : int -> int -> bool
val byte : string -> int -> int
val long : string -> int -> int
val longer : string -> int -> int
val padded : int -> int

type table

val table : int array array -> string array -> table
val rank_in : table -> row -> int
val look_in : table -> int -> int -> int -> int -> int
val score_in : table -> position -> int
val split : int -> 'a list -> 'a list * 'a list
val key : position -> int
val position_of : int -> int -> position
val in_page : int
val in_block : int

type claims

val claims : int -> int -> string array -> claims
val count_of : claims -> int
val claim_in : claims -> int -> claim
val find_in : claims -> position -> int
