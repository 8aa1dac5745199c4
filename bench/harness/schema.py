"""A schema of a thousand messages, and the request that a compiler makes of it for a plugin."""

from __future__ import annotations

import subprocess
from pathlib import Path

from google.protobuf import descriptor_pb2
from google.protobuf.compiler import plugin_pb2

FILES = 50
MESSAGES = 20  # of each file

_HEAD = """\
// Orders, part {file}.
syntax = "proto3";

package bench.large{file}.v1;

import "google/protobuf/timestamp.proto";
import "idem/v1/options.proto";

option go_package = "example.com/bench/large{file}/v1;large{file}v1";
option java_multiple_files = true;
option java_package = "com.example.bench.large{file}.v1";

// OrderState is where an order stands.
enum OrderState {{
  option (idem.v1.state_machine) = {{
    transition: {{ from: "" to: "CREATED" }}
    transition: {{ from: "CREATED" to: "PAYING" }}
    transition: {{ from: "PAYING" to: "PAID" }}
    transition: {{ from: "PAYING" to: "CANCELLED" }}
  }};
  ORDER_STATE_UNSPECIFIED = 0;
  ORDER_STATE_CREATED = 1;
  ORDER_STATE_PAYING = 2;
  ORDER_STATE_PAID = 3;
  ORDER_STATE_CANCELLED = 4;
}}
"""

# The shop's PaymentSucceeded, with every option that it has.
_MESSAGE = """
// Succeeded{message} says that the money for an order has come.
message Succeeded{message} {{
  option (idem.v1.message) = {{
    idempotency_key: "payments.paid_{file}_{message}:v1:{{payment_id}}:{{amount}}:{{occurred_at}}"
    biz_key: "{{order_id}}"
    fingerprint: "{{amount}}:{{currency}}"
    occurred_at: "{{occurred_at}}"
    retry: {{
      max_retry: 5
      max_hold: 20
      backoff_base_seconds: 1
      backoff_jitter_ms: 1000
      backoff_max_seconds: 300
    }}
    transition: {{
      state_machine: "bench.large{file}.v1.OrderState"
      from: "PAYING"
      to: "PAID"
    }}
  }};

  // The order that was paid.
  string order_id = 1;
  // The amount.
  string amount = 2 [(idem.v1.field).decimal = {{max_scale: 2}}];
  // ISO 4217.
  string currency = 3;
  // When the bank confirmed it.
  google.protobuf.Timestamp occurred_at = 4 [(idem.v1.field).timestamp = {{fraction_digits: 3}}];
  // The bank's id of the payment.
  string payment_id = 5;
}}
"""


def write(root: Path) -> list[str]:
    """Writes the schema below a directory and returns its files."""
    names = []
    for file in range(FILES):
        text = _HEAD.format(file=file)
        text += "".join(_MESSAGE.format(file=file, message=i) for i in range(MESSAGES))
        name = f"bench/large{file}/v1/payment.proto"
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
        names.append(name)
    return names


def compile_files(root: Path, options: Path) -> descriptor_pb2.FileDescriptorSet:
    """Compiles the schema. options is the directory of idem/v1/options.proto."""
    names = write(root)
    compiled = root / "descriptors.binpb"
    command = ["protoc", f"-I{root}", f"-I{options}", f"--descriptor_set_out={compiled}"]
    command += ["--include_imports", "--include_source_info", *names]
    subprocess.run(command, check=True)
    return descriptor_pb2.FileDescriptorSet.FromString(compiled.read_bytes())


def request(files: descriptor_pb2.FileDescriptorSet, parameter: str) -> bytes:
    """What a compiler hands a plugin that is to generate the schema."""
    names = [file.name for file in files.file if file.name.startswith("bench/")]
    made = plugin_pb2.CodeGeneratorRequest(
        file_to_generate=names, parameter=parameter, proto_file=files.file
    )
    made.compiler_version.major, made.compiler_version.minor = 6, 36
    return made.SerializeToString(deterministic=True)
