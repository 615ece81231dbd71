#!/usr/bin/env python3
"""check_templates.py ROOT: checks the templates in farm/ against the schemas of their engines.

Kubernetes' schema comes with kubernetes-validate and AWS Batch's with botocore, both from PyPI; no
network is needed. Without these packages only the rules of the templates themselves are checked.
The exit code is 77 if PyYAML is missing.
"""
import json
import subprocess
import sys
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


def batch_requests():
    definition = json.loads((farm / "aws-batch" / "job-definition.json").read_text())
    yield "RegisterJobDefinition", definition
    out = subprocess.run([farm / "aws-batch" / "submit.sh", "queue", "job7", "12"], check=True,
                         env={"PATH": "/usr/bin:/bin", "AWS": "echo"}, stdout=subprocess.PIPE,
                         text=True).stdout
    # The script takes the printed line of the array job as its id.
    override = json.loads(out[out.index('{"command"'):out.index("]}") + 2])
    yield "SubmitJob", {"jobName": "lull-job7-join", "jobQueue": "queue", "jobDefinition": "lull",
                        "dependsOn": [{"jobId": "1"}], "containerOverrides": override}
    yield "SubmitJob", {"jobName": "lull-job7-segments", "jobQueue": "queue",
                        "jobDefinition": "lull", "parameters": {"job": "job7"},
                        "arrayProperties": {"size": 12}}


def check_batch():
    rules = dict(batch_requests())["RegisterJobDefinition"]["retryStrategy"]["evaluateOnExit"]
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
    for operation, request in batch_requests():
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
