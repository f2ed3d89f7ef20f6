// TF_CONFIG: the environment variable from which a process learns its cluster
// and its task, as in TensorFlow.
//
//   {"cluster": {"ps": ["a:2222"], "worker": ["b:2222", "c:2222"]},
//    "task": {"type": "worker", "index": 1}}
//
// Kubeflow's TFJob writes it, too; also in a dynamic dialect, in which a task
// sees only itself (and a worker sees the parameter servers). With
// enableDynamicWorker, `worker` is a map with one index; up to v1.6 the
// cluster's key was `sparseCluster`.
#ifndef PACELINE_COMMON_CLUSTER_TF_CONFIG_H_
#define PACELINE_COMMON_CLUSTER_TF_CONFIG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/cluster/cluster_spec.h"
#include "common/cluster/task.h"

namespace paceline {

struct TfConfig {
  // Addresses have ports. Empty for an evaluator without a cluster.
  ClusterSpec cluster;
  // The task that this process runs.
  TaskId task;
  // Whether it is the dynamic dialect: there are tasks that are not listed.
  bool is_dynamic = false;
  // For the log: values that were filled in, such as ports.
  std::vector<std::string> notes;
};

// Whether the text counts as unset: it is empty, or, as in TensorFlow, an
// object without a task and without any address in a cluster.
bool IsNoTfConfig(absl::string_view json);

// InvalidArgument for anything malformed; the message starts with "TF_CONFIG: "
// and names the entry, its value and what is expected. Stricter than
// TensorFlow: also refuses repeated keys, spaces around an address, malformed
// host:port, an address of two tasks, and unknown types. Accepts a byte order
// mark, empty lists, null for an empty list, an index in quotes, and unknown
// keys beside `cluster` and `task`.
absl::StatusOr<TfConfig> ParseTfConfig(absl::string_view json);

}  // namespace paceline

#endif  // PACELINE_COMMON_CLUSTER_TF_CONFIG_H_
