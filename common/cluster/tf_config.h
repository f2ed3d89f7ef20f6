// TF_CONFIG: how a process learns its cluster and its place in it, as
// TensorFlow's do.
//
//   {"cluster": {"ps": ["a:2222"], "worker": ["b:2222", "c:2222"]},
//    "task": {"type": "worker", "index": 1}}
//
// Kubeflow's TFJob writes it too, also in a dynamic dialect in which a task
// sees only itself (and a worker the parameter servers): with
// enableDynamicWorker, `worker` is a map of the one index; up to v1.6 the key
// of the cluster was `sparseCluster`.
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
  // Addresses have ports. Empty if an evaluator was told of no cluster.
  ClusterSpec cluster;
  // This process.
  TaskId task;
  // Whether the dialect is the dynamic one: others exist that are not listed.
  bool is_dynamic = false;
  // For the log: what was filled in, such as ports.
  std::vector<std::string> notes;
};

// Whether that is as if TF_CONFIG were not set: empty, or, as TensorFlow has
// it, an object that names neither a task nor an address of a cluster.
bool IsNoTfConfig(absl::string_view json);

// InvalidArgument, with a message that starts with "TF_CONFIG: " and names the
// entry, its value and what is expected, for anything malformed; what
// TensorFlow lets pass too: repeated keys, spaces around an address, bad
// host:port, an address of two tasks, and unknown types. Taken are a byte order
// mark, empty lists, null for an empty list, an index in quotes, and unknown
// keys beside `cluster` and `task`.
absl::StatusOr<TfConfig> ParseTfConfig(absl::string_view json);

}  // namespace paceline

#endif  // PACELINE_COMMON_CLUSTER_TF_CONFIG_H_
