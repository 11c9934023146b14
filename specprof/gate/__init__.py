"""Does a run keep the promises that a team wrote down? Rules in, outcomes out."""

from specprof.gate.judge import Outcome, gate_document, judge, overall
from specprof.gate.rules import Rule, parse

__all__ = ["Outcome", "Rule", "gate_document", "judge", "overall", "parse"]
