(** * Extraction

    Natural numbers become native integers of 63 bits. All numbers of the checker are small: at most the number of
    claims, or a few times the seeds of the board. The lines below are part of the trust base. *)

From Coq Require Import Arith Extraction ExtrOcamlBasic.
From Kalah Require Import Definitions Tables Rows Certificates.

Extract Inductive nat => int [ "0" "Stdlib.succ" ] "(fun zero succ n -> if n = 0 then zero () else succ (n - 1))".
Extract Inlined Constant Init.Nat.add => "(+)".
Extract Inlined Constant Init.Nat.mul => "( * )".
Extract Inlined Constant Init.Nat.sub => "(fun (a : int) b -> if a < b then 0 else a - b)".
Extract Inlined Constant Nat.div => "(fun a b -> if b = 0 then 0 else a / b)".
Extract Inlined Constant Nat.modulo => "(fun a b -> if b = 0 then a else a mod b)".
Extract Inlined Constant Nat.max => "(fun (a : int) b -> if a < b then b else a)".
Extract Inlined Constant Nat.eqb => "(fun (a : int) b -> a = b)".
Extract Inlined Constant Nat.leb => "(fun (a : int) b -> a <= b)".
Extract Inlined Constant Nat.ltb => "(fun (a : int) b -> a < b)".

Extraction "kalah.ml" empty_capture standard single_move look_up best check_layer numbered check_part check_claims
  check_claims_part check_statement legal play continue after_moves.
