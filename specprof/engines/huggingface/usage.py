"""Faults of a configuration that show without torch, transformers or the models."""

from collections.abc import Collection, Iterable

from specprof.engines.huggingface.methods import METHODS, check_options
from specprof.errors import UsageError, did_you_mean
from specprof.records import SCHEDULES, Arm, EngineConfig

DTYPES = ("auto", "float32", "float16", "bfloat16")
OPTIONS = ("num_beams", "attn_implementation", "trust_remote_code")


def check_usage(config: EngineConfig) -> None:
    for arm in config.arms:
        _check_arm(arm)
    if config.model is None:
        raise UsageError("no target model given", "pass `--model FOLDER` or `--model ORGANISATION/NAME`")
    if config.max_tokens < 1:
        raise UsageError(
            f"`{config.max_tokens}` new tokens leave nothing to measure", "pass `--max-new-tokens 1` or more"
        )
    if config.threads is not None and config.threads < 1:
        raise UsageError(f"`{config.threads}` threads cannot run anything", "pass `--threads 1` or more")
    _check_choice("dtype", config.dtype or "auto", DTYPES)
    if config.device is not None and config.device.partition(":")[0] not in ("cpu", "cuda"):
        raise UsageError(f"unknown device `{config.device}`", "pass `--device cpu`, `cuda` or `cuda:1`")
    _check_options(config)
    _check_universal(config.arms)


def _check_choice(what: str, value: str, choices: Collection[str]) -> None:
    if value not in choices:
        raise UsageError(f"unknown {what} `{value}`", did_you_mean(value, choices, f"known: {', '.join(choices)}"))


def _check_names(what: str, names: Iterable[str], known: Collection[str]) -> None:
    for name in names:
        if not known:
            raise UsageError(f"`{name}` is no {what}: it takes none", f"leave `{name}` out")
        _check_choice(what, name, known)


def _check_options(config: EngineConfig) -> None:
    _check_names("engine option", config.options, OPTIONS)
    if (beams := config.options.get("num_beams", "1")) != "1":
        raise UsageError(
            f"`num_beams={beams}`: with beams transformers ignores the draft without a word",
            "leave `num_beams` out: speculative decoding here is greedy or sampled",
        )
    _check_choice("value of `trust_remote_code`", config.options.get("trust_remote_code", "false"), ("true", "false"))


def _check_arm(arm: Arm) -> None:
    _check_choice(f"method in arm `{arm.id}`", arm.method, METHODS)
    _check_choice(f"schedule in arm `{arm.id}`", arm.schedule, SCHEDULES)
    if arm.concurrency != 1:
        raise UsageError(f"arm `{arm.id}` asks for concurrency {arm.concurrency}", "batch 1 is this engine's limit")
    for name in ("draft_sampling", "rejection_method"):
        if getattr(arm, name) is not None:
            raise UsageError(f"arm `{arm.id}` sets `{name}`: this engine has one way only", f"leave `{name}` out")
    _check_sampling(arm)
    _check_names(f"option of method `{arm.method}`", arm.options, METHODS[arm.method].options)
    check_options(arm)
    if arm.method != "none":
        _check_drafting(arm)


def _check_sampling(arm: Arm) -> None:
    if arm.temperature < 0:
        raise UsageError(f"arm `{arm.id}` has temperature {arm.temperature}", "0 is greedy, 1 the model's own")
    if arm.temperature == 0 and (arm.top_p is not None or arm.top_k is not None):
        raise UsageError(f"arm `{arm.id}` sets top_p or top_k but decodes greedily", "add `--temperature 1`")
    if arm.top_p is not None and not 0 < arm.top_p <= 1:
        raise UsageError(f"arm `{arm.id}` has top_p {arm.top_p}", "top_p is above 0 and at most 1")
    if arm.top_k is not None and arm.top_k < 1:
        raise UsageError(f"arm `{arm.id}` has top_k {arm.top_k}", "top_k is 1 or more; leave it out for all tokens")


def _check_drafting(arm: Arm) -> None:
    if arm.k < 1:
        raise UsageError(f"arm `{arm.id}` drafts k = {arm.k} tokens per round", "pass `--k 1` or more")
    method = METHODS[arm.method]
    if arm.draft and not method.draft:
        raise UsageError(f"arm `{arm.id}`: `{arm.method}` uses no draft model", f"leave `--draft {arm.draft}` out")
    if method.draft and not arm.draft:
        raise UsageError(f"arm `{arm.id}` has no draft model", "pass `--draft FOLDER` or `--method prompt_lookup`")
    if arm.schedule == "confidence" and not method.stops:
        raise UsageError(f"arm `{arm.id}`: `{arm.method}` has no confidence to stop at", "use `--schedule constant`")
    if arm.threshold is not None and arm.schedule != "confidence":
        raise UsageError(f"arm `{arm.id}` has a threshold but a constant k", "add `--schedule confidence`")
    if arm.threshold is not None and not 0 < arm.threshold < 1:
        raise UsageError(f"arm `{arm.id}` has threshold {arm.threshold}", "a threshold is between 0 and 1")


def _check_universal(arms: Iterable[Arm]) -> None:
    """When it samples, transformers takes the draft apart, and greedy decoding with the same draft breaks."""
    sampled = {(arm.draft, arm.temperature > 0) for arm in arms if arm.method == "universal"}
    for draft, _ in sampled:
        if (draft, True) in sampled and (draft, False) in sampled:
            raise UsageError(
                f"one run decodes universally with `{draft}` both greedily and sampled", "make it two runs"
            )
