#!/bin/sh
# The main job on a real model: plain decoding against prompt lookup, a draft at constant k and the same draft with a
# confidence threshold, interleaved, per task; costs measured before and after; then the report.
# usage: demo.sh BIN CACHE RUN THREADS
set -eu
bin=$1 cache=$2 run=$3 threads=$4
export OMP_NUM_THREADS="$threads"

model=$("$bin/python" tools/demo_model.py "$cache" target)
draft=$("$bin/python" tools/demo_model.py "$cache" draft)
"$bin/specprof" run --model "$model" --baseline --dtype float32 --threads "$threads" \
    --arm "lookup=method=prompt_lookup,k=4" \
    --arm "draft=draft=$draft,k=4" \
    --arm "threshold=draft=$draft,k=4,schedule=confidence,threshold=0.4" \
    --prompts sample_prompts/summarise.jsonl --prompts sample_prompts/code.jsonl --prompts sample_prompts/chat.jsonl \
    --limit 12 --max-new-tokens 48 --out "$run" >/dev/null
"$bin/specprof" report "$run"
cat <<END

Next, put a promise on it (exit code 0 kept, 1 broken, 3 undecided):
  $bin/specprof gate $run --rule 'arm=lookup,task=summarise: measured.decode > 1.1'
END
