import json
import os
import subprocess
import sys

from specprof.store.process import alive, this_process


def test_this_process_is_alive():
    assert alive(this_process())


def test_another_process_with_the_same_pid_is_not_the_one():
    assert not alive(this_process() | {"started": this_process()["started"] - 1})


def test_nothing_lives_across_a_boot():
    assert not alive(this_process() | {"boot_id": "another"})


def test_a_process_on_another_host_counts_as_alive():
    assert alive(this_process() | {"host": "elsewhere", "pid": 1, "started": 0, "boot_id": "another"})


def test_a_killed_process_is_gone_even_before_its_parent_has_waited():
    code = "import json, time; from specprof.store.process import this_process as p; print(json.dumps(p()), flush=True)"
    with subprocess.Popen(
        [sys.executable, "-c", f"{code}; time.sleep(60)"], stdout=subprocess.PIPE, text=True
    ) as process:
        child = json.loads(process.stdout.readline())
        assert alive(child)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # dead, but a zombie still
        assert not alive(child)
    assert not alive(child)


def test_without_proc_the_pid_alone_decides():
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert alive(this_process() | {"started": None})
    assert not alive(this_process() | {"started": None, "pid": gone.pid})
