"""Prompts that say the same are one observation."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from specprof.records import Prompt


def one_per_content(prompts: Iterable[Prompt]) -> tuple[Prompt, ...]:
    """Clusters that say the same, word for word, become one conversation. Its name comes from what is said, so that it
    depends neither on ids nor on the order of files."""
    found = tuple(prompts)
    members: defaultdict[tuple[bool, str], list[Prompt]] = defaultdict(list)
    for prompt in found:
        members[prompt.cluster].append(prompt)
    same: defaultdict[str, list[tuple[bool, str]]] = defaultdict(list)
    for cluster, turns in members.items():
        same[_hashed(turns)].append(cluster)
    shared = {cluster: f"same-{name}" for name, clusters in same.items() if len(clusters) > 1 for cluster in clusters}
    return tuple(replace(p, conversation_id=shared[p.cluster]) if p.cluster in shared else p for p in found)


def _hashed(turns: Iterable[Prompt]) -> str:
    said = sorted((p.turn or 0, json.dumps([p.text, p.messages], sort_keys=True)) for p in turns)
    return hashlib.sha256(json.dumps([text for _, text in said]).encode()).hexdigest()[:12]
