(** * Assumptions of the main theorems

    Each line must print "Closed under the global context": no axiom is used. *)

From Kalah Require Import Definitions Score Tables Rows Certificates.

Print Assumptions score_equation.
Print Assumptions score_unique.
Print Assumptions score_bound.
Print Assumptions value_is_value.
Print Assumptions value_unique.
Print Assumptions tables_correct.
Print Assumptions check_table_correct.
Print Assumptions parts_check_layer.
Print Assumptions parts_check_claims.
Print Assumptions parts_join.
Print Assumptions certificate_correct.
Print Assumptions certificate_value.
Print Assumptions opening_value.
Print Assumptions lower_bound_needs.
Print Assumptions upper_bound_needs.
Print Assumptions value_at_least.
Print Assumptions value_at_most.
