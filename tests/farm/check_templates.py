#!/usr/bin/env python3
"""check_templates.py ROOT: checks the templates in farm/ against the schemas of their engines.

Kubernetes' schema comes with kubernetes-validate and AWS Batch's with botocore, both from PyPI; no
network is needed. Without these packages only the rules of the templates themselves are checked.
The exit code is 77 if PyYAML is missing.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import yaml
except ImportError:
    print("skipped: no PyYAML")
    sys.exit(77)

farm = Path(sys.argv[1]) / "farm"


def jobs():
    for name in ("segments.yaml", "join.yaml"):
        text = (farm / "kubernetes" / name).read_text()
        yield name, yaml.safe_load(text.replace("@SEGMENTS@", "12").replace("@JOB@", "job7"))


def check_kubernetes():
    for name, job in jobs():
        spec = job["spec"]
        container = spec["template"]["spec"]["containers"][0]
        assert spec["template"]["spec"]["restartPolicy"] == "Never", name  # podFailurePolicy's rule
        for rule in spec["podFailurePolicy"]["rules"]:
            codes = rule.get("onExitCodes")
            assert not codes or codes["containerName"] == container["name"], name
    segments = dict(jobs())["segments.yaml"]["spec"]
    assert segments["completionMode"] == "Indexed" and segments["completions"] == 12
    try:
        import kubernetes_validate
    except ImportError:
        print("kubernetes: structure alone (no kubernetes-validate)")
        return
    version = "1.33"
    for name, job in jobs():
        kubernetes_validate.validate(job, version, strict=True)
    print(f"kubernetes: the schema of {version}")


# Stands for the command aws: writes its arguments to a file and prints the id of a job.
FAKE_AWS = f"""#!{sys.executable}
import json, pathlib, sys
calls = pathlib.Path(__file__).with_suffix(".calls")
number = len(calls.read_text().splitlines()) + 1 if calls.exists() else 1
with calls.open("a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
print("id%d" % number)
"""


def submitted(segments):
    """Returns the options of each call of aws by submit.sh."""
    with tempfile.TemporaryDirectory() as folder:
        aws = Path(folder, "aws")
        aws.write_text(FAKE_AWS)
        aws.chmod(0o755)
        subprocess.run([farm / "aws-batch" / "submit.sh", "queue", "job7", str(segments)],
                       check=True, env={"PATH": "/usr/bin:/bin", "AWS": str(aws)},
                       stdout=subprocess.PIPE)
        calls = [json.loads(line) for line in aws.with_suffix(".calls").read_text().splitlines()]
    for call in calls:
        assert call[:2] == ["batch", "submit-job"] and len(call) % 2 == 0, call
    return [dict(zip(call[2::2], call[3::2])) for call in calls]


def request_of(options):
    """Returns the request that aws makes from the options of a call."""
    request = {"jobName": options["--job-name"], "jobQueue": options["--job-queue"],
               "jobDefinition": options["--job-definition"]}
    for option, key in (("--parameters", "parameters"), ("--array-properties", "arrayProperties"),
                        ("--depends-on", "dependsOn")):
        if option in options:
            name, value = options[option].split("=")
            fields = {name: int(value) if name == "size" else value}
            request[key] = [fields] if key == "dependsOn" else fields
    if "--container-overrides" in options:
        request["containerOverrides"] = json.loads(options["--container-overrides"])
    return request


def batch_requests():
    definition = json.loads((farm / "aws-batch" / "job-definition.json").read_text())
    yield "RegisterJobDefinition", definition
    for segments in (1, 12):
        array, join = map(request_of, submitted(segments))
        assert array["jobDefinition"] == join["jobDefinition"] == definition["jobDefinitionName"]
        assert array["jobQueue"] == join["jobQueue"] == "queue"
        assert array["parameters"] == {"job": "job7"}
        assert array.get("arrayProperties", {"size": 1}) == {"size": segments}
        assert join["dependsOn"] == [{"jobId": "id1"}]
        assert "lull join /farm/job7 " in join["containerOverrides"]["command"][2]
        yield "SubmitJob", array
        yield "SubmitJob", join


def check_batch():
    requests = list(batch_requests())
    rules = requests[0][1]["retryStrategy"]["evaluateOnExit"]
    assert [r["action"] for r in rules] == ["RETRY", "RETRY", "EXIT"]
    assert rules[1]["onExitCode"] == "75"
    try:
        import botocore.loaders
        import botocore.model
        import botocore.validate
    except ImportError:
        print("AWS Batch: structure alone (no botocore)")
        return
    model = botocore.model.ServiceModel(
        botocore.loaders.Loader().load_service_model("batch", "service-2"))
    for operation, request in requests:
        report = botocore.validate.ParamValidator().validate(
            request, model.operation_model(operation).input_shape)
        assert not report.has_errors(), report.generate_report()
    print("AWS Batch: botocore's model")


def check_openjd():
    template = yaml.safe_load((farm / "openjd" / "lull.template.yaml").read_text())
    assert [step["name"] for step in template["steps"]] == ["Plan", "Denoise", "Join"]
    for step, before in (("Denoise", "Plan"), ("Join", "Denoise")):
        found = next(s for s in template["steps"] if s["name"] == step)
        assert found["dependencies"] == [{"dependsOn": before}]


check_kubernetes()
check_batch()
check_openjd()
