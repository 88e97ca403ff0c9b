"""Where the command line meets the shell: streams that close, Ctrl-C, odd names, and messages in the shell's words."""

import errno
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import bayesnb
from bayesnb import atomic
from bayesnb.cli import fitting, main, output
from bayesnb.cli.wording import in_shell_words
from tests import test_cli
from tests.test_cli import HAM, run, strict_json

mail, model = test_cli.mail, test_cli.model  # fixtures

ESCAPE = "h\x1b[31mam"
PROGRAM = "from bayesnb.cli import run; run()"


def test_ctrl_c_while_the_program_is_still_loading_is_quiet_and_130():
    interrupt = (
        "import os, signal, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'typer': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
    )
    done = subprocess.run([sys.executable, "-c", f"{interrupt}{PROGRAM}"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_the_entry_and_help_import_nothing_heavy():
    program = (
        "import sys\nfrom bayesnb.cli import main\nassert 'typer' not in sys.modules\nassert main(['--help']) == 0\n"
        "heavy = {'numpy', 'scipy', 'pandas', 'polars', 'sklearn', 'pymc'} & set(sys.modules)\nassert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)


def test_python_m_runs_the_command_and_tells_its_version():
    done = subprocess.run([sys.executable, "-m", "bayesnb", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"bayesnb {bayesnb.__version__}\n", "")


class _ClosedPipe(io.StringIO):
    def write(self, text):
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")


class _FullDisk(io.StringIO):
    def write(self, text):
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("arguments", [["score", "m.model", "mail/spam"], ["inspect", "m.model", "--json"]])
def test_a_pipe_closed_in_the_midst_of_a_command_is_quiet_and_no_failure(model, capsys, monkeypatch, arguments):
    closed = _ClosedPipe()
    monkeypatch.setattr(sys, "stdout", closed)
    assert main(arguments) == 0
    assert sys.stdout is closed and capsys.readouterr().err == ""


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_full_disk_behind_stdout_is_named(model, capsys, monkeypatch, options):
    monkeypatch.setattr(sys, "stdout", _FullDisk())
    assert main(["score", model, "mail/spam", *options]) == 2
    assert capsys.readouterr().err == "bayesnb: standard output: could not be written: No space left on device\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "mail", "-o", "full.out"],
        ["score", "m.model", "mail/spam", "-o", "full.out"],
        ["ratios", "m.model", "--csv", "full.out"],
    ],
)
def test_a_full_disk_names_the_file_as_it_was_given(model, capsys, monkeypatch, arguments):
    def full(path, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic, "write", full)
    assert main(arguments) == 2
    assert capsys.readouterr().err == "bayesnb: full.out: could not be written: No space left on device\n"


def test_streams_that_the_shell_closed_are_no_error(model, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["score", model, "mail/spam"]) == 0
    sys.stdout.close()
    monkeypatch.undo()
    assert capsys.readouterr() == ("", "")
    command = f"{sys.executable} -m bayesnb inspect nowhere 2>&-"
    done = subprocess.run(command, shell=True, stdout=subprocess.PIPE)  # noqa: S602
    assert (done.returncode, done.stdout) == (2, b"")


def test_no_label_reaches_the_terminal_as_an_escape_sequence(mail, capsys):
    Path("two\nlines").mkdir()
    for i, text in enumerate(HAM):
        Path("two\nlines", f"{i}.txt").write_text(text)
    Path("two\nlines", "empty.bin").write_bytes(b"\0\0")
    said = [
        run(["fit", f"{ESCAPE}=two\nlines", "spam=mail/spam", "-o", "e.model"], capsys),
        run(["ratios", "e.model", "--classes", ESCAPE, "spam"], capsys),
        run(["evaluate", "e.model", f"{ESCAPE}=two\nlines"], capsys),
        run(["evaluate", "e.model", "mail"], capsys),
        run(["ratios", "e.model", "--classes", "x", "y"], capsys),
        run(["score", "e.model", "two\nlines", "-o", "rows.csv"], capsys),
    ]
    assert [status for status, _, _ in said] == [0, 0, 0, 2, 2, 0]
    assert all("\x1b" not in out + err for _, out, err in said)
    assert all("h\\x1b[31mam" in out + err for _, out, err in said[:-1])
    for _, _, err in said:
        assert all(line.startswith("bayesnb: ") for line in err.splitlines())


def test_a_remark_stays_on_one_line(capsys):
    output.note("a\nb\x1b[0m")
    assert capsys.readouterr().err == "bayesnb: a\\nb\\x1b[0m\n"


def test_progress_shows_a_name_as_it_is_and_no_escape_sequence(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with output.working("scoring [bold]x\x1b[31m"):
        pass
    assert "scoring [bold]x\\x1b[31m" in capsys.readouterr().err


def test_a_known_class_prior_finds_labels_that_are_numbers(mail, capsys):
    Path("c.svm").write_text("0 1:1 2:2\n1 1:3\n0 1:2 2:2\n")
    assert run(["fit", "c.svm", "-o", "c.model", "--class-prior", "1=.1,0=.9"], capsys)[0] == 0
    clf = bayesnb.load("c.model")
    assert clf.classes_.tolist() == [0, 1] and clf.posterior_.theta_hat().tolist() == [0.9, 0.1]


@pytest.mark.parametrize(("prior", "missing"), [("jeffreys", True), ("uniform", False), ("background", True)])
def test_compare_shows_a_dash_where_there_is_no_mode(mail, capsys, prior, missing):
    status, out, _ = run(["compare", "mail", "--prior", prior, "--json"], capsys)
    found = strict_json(out)
    assert status == 0 and all((row["map"] is None) is missing for row in found["rows"])
    assert (found["largest_differences"]["map - laplace"] is None) is missing
    status, out, _ = run(["compare", "mail", "--prior", prior], capsys)
    assert status == 0 and ("|map - laplace|: -" in out) is missing and "nan" not in out


def test_compare_without_smoothing_is_the_mle(mail, capsys):
    for event in ("multinomial", "bernoulli"):
        status, out, _ = run(["compare", "mail", "--alpha", "0", "--event", event, "--json"], capsys)
        rows = strict_json(out)["rows"]
        assert status == 0 and [r["map"] for r in rows] == pytest.approx([r["mle"] for r in rows])


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "nowhere", "-o"],
        ["score", "nowhere", "nowhere", "-o"],
        ["sample", "nowhere", "-o"],
        ["compare", "nowhere", "--csv"],
        ["ratios", "nowhere", "--csv"],
    ],
)
@pytest.mark.parametrize(("target", "said"), [("mail", "mail is a folder"), ("no/file", "there is no folder no;")])
def test_a_target_that_cannot_be_written_is_refused_before_any_work(mail, capsys, arguments, target, said):
    status, _, err = run([*arguments, target], capsys)
    assert status == 2 and said in err and "nowhere" not in err


def test_a_name_that_is_no_text_is_shown_escaped_in_json_and_csv(model, capsys):
    try:
        Path(os.fsdecode(b"mail/ham/\xff.txt")).write_text("tea")
    except OSError:
        pytest.skip("this file system takes only names that are UTF-8")
    status, out, _ = run(["score", model, "mail/ham", "--json"], capsys)
    assert status == 0 and out.isascii() and strict_json(out)["rows"][-1]["id"] == "mail/ham/\\udcff.txt"
    assert run(["score", model, "mail/ham", "-o", "rows.csv"], capsys)[0] == 0
    assert "\\udcff.txt" in Path("rows.csv").read_text(encoding="utf-8")


def test_output_fits_any_encoding_of_stdout(mail, capsys, monkeypatch):
    assert run(["fit", "é=mail/ham", "s=mail/spam", "-o", "e.model"], capsys)[0] == 0
    for options in ([], ["--json"]):
        raw = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii", write_through=True))
        assert main(["score", "e.model", "mail/ham", *options]) == 0
        assert (rb"\xe9" in raw.getvalue()) or (json.loads(raw.getvalue())["rows"][0]["label"] == "é")


def test_a_label_may_hold_an_equals_sign(mail, capsys):
    Path("mail/spam").rename("x=y")
    status, _, _ = run(["fit", "a=b=x=y", "ham=mail/ham", "-o", "e.model", "--class-prior", "a=b=.25,ham=.75"], capsys)
    assert status == 0 and bayesnb.load("e.model").classes_.tolist() == ["a=b", "ham"]
    assert fitting.class_prior_from("a=b=.25,ham=.75") == {"a=b": 0.25, "ham": 0.75}


SHELL = [
    (["fit", "nowhere", "-o", "x", "--event", "gaussian"], "--event is multinomial or bernoulli", "categorical"),
    (["fit", "nowhere", "-o", "x", "--event", "categorical"], "--event is multinomial or bernoulli", "nowhere"),
    (["fit", "nowhere", "-o", "x", "--prior", "flat"], "'flat' is not known", "nowhere"),
    (["fit", "nowhere", "-o", "x", "--prior", "jeffreys"], "use --estimate mean or predictive", "estimate='"),
    (["compare", "nowhere", "--prior", "flat"], "'flat' is not known", "nowhere"),
    (["fit", "nowhere", "-o", "x", "--quoting", "nope"], "--quoting is minimal or none, got 'nope'", "nowhere"),
    (["fit", "nowhere", "-o", "x", "--encoding", "nope"], "--encoding nope", "nowhere"),
    (["fit", "nowhere", "-o", "x", "--class-prior", "a=.5,a=.5"], "names 'a' twice", "nowhere"),
    (["fit", "mail", "-o", "x", "--class-prior", "ham=1"], "--class-prior names none for 'spam'", "class_prior"),
    (["fit", "mail/ham", "-o", "x"], "pass LABEL=PATH", "{label"),
    (["fit", "mail/ham/0.txt", "-o", "x"], "pass --format one of", "format="),
    (["fit", "latin.csv", "-o", "x"], "--encoding cp1252", "encoding="),
    (["fit", "mail", "-o", "x", "--tokens", r"\d+x"], r"by --tokens '\d+x'", "tokens="),
    (["demo", "-o", "m.model"], "--out FOLDER", "exists"),
    (["fit"], "see bayesnb fit --help", ".;"),
]


@pytest.mark.parametrize(("arguments", "said", "unsaid"), SHELL, ids=[" ".join(words) for words, _, _ in SHELL])
def test_messages_are_in_the_words_of_the_shell(model, capsys, arguments, said, unsaid):
    Path("latin.csv").write_bytes(b"label,text\nham,caf\xe9\n")
    status, _, err = run(arguments, capsys)
    assert status == 2 and said in err and unsaid not in err and len(err.splitlines()) == 1


def test_paths_in_a_message_are_not_reworded():
    for message in ("mail/text=x/0.txt: No such file", "my-label=a.csv: empty", "x=estimate: unknown"):
        assert in_shell_words(message) == message


def test_without_arguments_help_is_on_stdout(capsys):
    status, out, err = run([], capsys)
    assert status == 0 and err == "" and "Commands:" in out and "..." not in out.partition("Commands:")[2]


def test_a_log_loss_of_nothing_has_no_sign(mail, capsys):
    for label, word in (("ham", "tea"), ("spam", "rum")):
        Path("sure", label).mkdir(parents=True)
        Path("sure", label, "0.txt").write_text(word)
    assert run(["fit", "sure", "-o", "s.model", "--estimate", "mle"], capsys)[0] == 0
    assert "log loss 0.0000" in run(["evaluate", "s.model", "sure"], capsys)[1]
    assert "-0.0" not in run(["evaluate", "s.model", "sure", "--json"], capsys)[1]


def test_an_ignored_ctrl_c_stays_ignored():
    """A shell's background job ignores it; the program must not bring it back."""
    check = (
        "import atexit, signal, sys\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        f"atexit.register(lambda: print(signal.getsignal(signal.SIGINT)))\nsys.argv[1:] = ['--version']\n{PROGRAM}"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == str(signal.SIG_IGN)


@pytest.mark.parametrize(
    ("words", "at", "offered"),
    [
        ("bayesnb s", 1, {"score", "select", "sample"}),
        ("bayesnb fit --po", 2, {"--power"}),
        ("bayesnb fit --event b", 3, {"bernoulli"}),
        ("bayesnb fit --prior empirical", 3, {"empirical", "empirical-background"}),
        ("bayesnb score --on-error ", 3, {"fail", "skip"}),
    ],
)
def test_a_shell_completes_commands_options_and_values(words, at, offered):
    asked = {"_BAYESNB_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(at)}
    done = subprocess.run(["bayesnb"], env=os.environ | asked, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and set(done.stdout.split()) == offered


def test_completion_is_shown_and_installed_on_request(tmp_path):
    home = os.environ | {"HOME": str(tmp_path), "SHELL": "/bin/bash"}
    shown = subprocess.run(["bash", "-c", "bayesnb --show-completion; true"], env=home, capture_output=True, text=True)
    assert "complete -o default -F _bayesnb_completion bayesnb" in shown.stdout and shown.stderr == ""
    command = ["bash", "-c", "bayesnb --install-completion; true"]
    done = subprocess.run(command, env=home, capture_output=True, text=True)
    assert done.stderr == "" and any("bayesnb" in path.name for path in tmp_path.rglob("*"))


# --- remarks on what is likely a slip -------------------------------------------------------------------------


@pytest.fixture
def slips(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mail.csv").write_text(
        "id,label,text\n" + "".join(f"{i},{'ab'[i % 2]},{'xy'[i % 2]} z{i}\n" for i in range(14))
    )
    return tmp_path


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--label", "id"], "14 documents are of 14 classes; is the column of labels the right one?"),
        (["--alpha", "0"], "some probabilities are 0: a document with such tokens of every class cannot be scored"),
        (["--estimate", "mle"], "some probabilities are 0"),
    ],
)
def test_fit_remarks_on_what_is_likely_a_slip(slips, capsys, options, said):
    command = [
        "fit",
        "mail.csv",
        "--text",
        "text",
        *(options if "--label" in options else [*options, "--label", "label"]),
    ]
    assert main([*command, "-o", "m.model"]) == 0
    assert said in capsys.readouterr().err
    assert main(["fit", "mail.csv", "--text", "text", "--label", "label", "-o", "m.model"]) == 0
    assert capsys.readouterr().err == ""


def test_a_document_that_is_impossible_says_what_would_help(slips, capsys):
    main(["fit", "mail.csv", "--text", "text", "--label", "label", "--alpha", "0", "-o", "m.model"])
    Path("both.csv").write_text("text\nz0 z1\n")
    assert main(["score", "m.model", "both.csv"]) == 2
    assert "both.csv, row 1 has probability 0 under every class" in (err := capsys.readouterr().err)
    assert "fit again with alpha > 0" in err


def test_documents_in_the_place_of_a_model_are_called_no_model(slips, capsys):
    assert main(["score", "mail.csv", "m.model"]) == 2
    assert "mail.csv: this is no bayesnb model file" in capsys.readouterr().err


def test_compare_says_why_the_map_is_missing(slips, capsys):
    assert main(["compare", "mail.csv", "--text", "text", "--label", "label", "--prior", "jeffreys"]) == 0
    assert "map is missing: where a posterior concentration is below 1 there is no mode" in capsys.readouterr().out
    assert main(["compare", "mail.csv", "--text", "text", "--label", "label"]) == 0
    assert "map is missing" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "command",
    [
        ["fit", "mail.csv", "-o", "mail.csv"],
        ["fit", "a=mail.csv", "-o", "mail.csv"],
        ["compare", "mail.csv", "--csv", "./mail.csv"],
        ["select", "mail.csv", "--csv", "mail.csv"],
        ["score", "m.model", "mail.csv", "-o", "mail.csv"],
        ["score", "m.model", "mail.csv", "--summary", "m.model"],
        ["evaluate", "m.model", "mail.csv", "--csv", "mail.csv"],
        ["ratios", "m.model", "--csv", "m.model"],
        ["sample", "m.model", "-o", "m.model"],
    ],
    ids=" ".join,
)
def test_no_command_overwrites_what_it_reads(slips, capsys, command):
    bayesnb.TextClassifier().fit(["xx", "yy"], ["a", "b"]).save("m.model")
    before = {path.name: path.read_bytes() for path in slips.iterdir()}
    assert main(command) == 2
    err = capsys.readouterr().err
    assert "is read, and would be overwritten; choose another name" in err and err.count("\n") == 1
    assert {path.name: path.read_bytes() for path in slips.iterdir()} == before


def test_a_long_token_is_shortened_in_the_table_and_whole_in_csv(slips, capsys):
    long = "w" * 300
    bayesnb.TextClassifier().fit([f"{long} xx", "yy"], ["a", "b"]).save("m.model")
    assert main(["ratios", "m.model", "--csv", "all.csv"]) == 0
    out = capsys.readouterr().out
    assert long[:20] in out and "w…" in out and long[:100] not in out.replace("\n", "")
    assert f"\n{long}," in Path("all.csv").read_text()
