#include "common/keras/tensorflow_weights.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/file.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

constexpr absl::string_view kIndexEnding = ".index";
constexpr char kGraphKey[] = "_CHECKPOINTABLE_OBJECT_GRAPH";
// Of all objects, which take some 50 times as much memory: those of 1,000
// layers and their optimizer have 1 MB.
constexpr int64_t kMaxGraphBytes = 8 << 20;

// Of the paths of an optimizer's variables.
constexpr absl::string_view kOptimizerPrefix = "optimizer/";

constexpr absl::string_view kShardEnding = ".data-";
// Beside the checkpoints of a folder; its first line names the last of them:
// model_checkpoint_path: "ckpt-7".
constexpr char kStateFile[] = "checkpoint";
constexpr int64_t kMaxStateBytes = 1 << 20;

bool IsFile(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

// The prefix of the last checkpoint of a folder; nullopt if it does not say.
std::optional<std::filesystem::path> LastCheckpoint(
    const std::filesystem::path& folder) {
  const std::string state = folder / kStateFile;
  if (!IsFile(state)) return std::nullopt;
  const absl::StatusOr<std::string> text = ReadFile(state, kMaxStateBytes);
  if (!text.ok()) return std::nullopt;
  absl::string_view name = *text;
  if (!absl::ConsumePrefix(&name, "model_checkpoint_path: \"")) {
    return std::nullopt;
  }
  const size_t end = name.find('"');
  if (end == name.npos) return std::nullopt;
  return folder / std::string(name.substr(0, end));
}

Hdf5Type TypeOf(TensorFlowType type) {
  using Kind = Hdf5Type::Kind;
  switch (type) {
    case TensorFlowType::kFloat:
      return {Kind::kFloat, 4};
    case TensorFlowType::kDouble:
      return {Kind::kFloat, 8};
    case TensorFlowType::kHalf:
      return {Kind::kFloat, 2};
    // As h5py stores it.
    case TensorFlowType::kBFloat16:
      return {Kind::kOpaque, 2};
    case TensorFlowType::kInt32:
      return {Kind::kSigned, 4};
    case TensorFlowType::kInt64:
      return {Kind::kSigned, 8};
    case TensorFlowType::kString:
      break;
  }
  return {Kind::kOther, 1};
}

absl::StatusOr<std::vector<CheckpointVariable>> ReadObjects(
    CheckpointFile& file) {
  absl::StatusOr<std::string> graph =
      file.ReadString(kGraphKey, kMaxGraphBytes);
  if (absl::IsNotFound(graph.status())) {
    return absl::InvalidArgumentError(
        absl::StrCat("has no ", kGraphKey,
                     ", expected a checkpoint of tf.train.Checkpoint or of "
                     "Keras 2's save_weights()"));
  }
  if (!graph.ok()) return graph.status();
  auto variables = FindModelVariables(*graph);
  if (!variables.ok()) return Annotate(variables.status(), kGraphKey);
  return variables;
}

absl::StatusOr<Hdf5Dataset> ReadVariable(CheckpointFile& file,
                                         const std::string& key) {
  const auto entry = file.entries().find(key);
  if (entry == file.entries().end()) {
    return absl::DataLossError(absl::StrCat(
        "has no ", PeerText(key), ", which is a variable of its objects"));
  }
  if (entry->second.is_in_parts) {
    return absl::UnimplementedError(
        absl::StrCat(PeerText(key),
                     ": a variable in parts is not supported, expected one "
                     "that was saved without a partitioner"));
  }
  Hdf5Dataset dataset;
  dataset.type = TypeOf(entry->second.type);
  dataset.shape = entry->second.shape;
  dataset.offset_bytes = file.OffsetOf(entry->second);
  return dataset;
}

absl::Status ReadVariables(CheckpointFile& file, TensorFlowWeights& weights) {
  ASSIGN_OR_RETURN(const std::vector<CheckpointVariable> variables,
                   ReadObjects(file));
  int64_t rest = file.size_bytes();
  for (const CheckpointVariable& each : variables) {
    ASSIGN_OR_RETURN(Hdf5Dataset dataset, ReadVariable(file, each.key));
    // Else a small file may be much work.
    rest -= NumElements(dataset.shape) * dataset.type.size_bytes;
    if (rest < 0) {
      return absl::DataLossError(absl::StrCat(
          "its variables up to ", PeerText(each.key),
          " are larger than its shards, expected none that overlap"));
    }
    weights.index[each.path] = std::move(dataset);
    weights.variables[each.path] = each;
  }
  return absl::OkStatus();
}

// "cell/kernel" of the LSTM's first variable, whose WeightPath is
// "cell/vars/0".
std::string PathInLayer(const Layer& layer, int index,
                        absl::string_view variable) {
  const std::string path = layer.WeightPath(index);
  const absl::string_view parts =
      absl::string_view(path).substr(0, path.rfind("vars/"));
  return absl::StrCat(parts, variable.substr(variable.rfind('/') + 1));
}

void AddTensorFlowPaths(const Graph& graph, const ModelTree& model,
                        const std::string& group,
                        std::vector<WeightPath>& paths) {
  int count = 0;
  for (const int index : KerasLayerOrder(model)) {
    const ModelTree::Child& child = model.children[index];
    const std::string place =
        absl::StrCat(group, "layer_with_weights-", count, "/");
    const size_t before = paths.size();
    if (child.model != nullptr) {
      AddTensorFlowPaths(graph, *child.model, place, paths);
    }
    for (size_t i = 0; i < child.variables.size(); ++i) {
      const int variable = child.variables[i];
      paths.push_back(
          {variable,
           absl::StrCat(place, PathInLayer(*child.layer, static_cast<int>(i),
                                           graph.variables[variable].name))});
    }
    if (paths.size() > before) ++count;
  }
}

}  // namespace

std::string WeightsFilePath(const std::string& path) {
  std::string index = absl::StrCat(path, kIndexEnding);
  return !path.empty() && !IsFile(path) && IsFile(index) ? index : path;
}

bool IsCheckpointPath(const std::string& path) {
  return absl::EndsWith(path, kIndexEnding);
}

absl::Status CheckIsNoPartOfCheckpoint(const std::string& path) {
  const auto refuse = [&path](absl::string_view what,
                              const std::filesystem::path& prefix) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is ", what, "; expected the prefix of one, ",
                     PeerText(prefix.string())));
  };
  const std::filesystem::path of_file = path;
  const std::string name = of_file.filename();
  const size_t ending = absl::string_view(name).rfind(kShardEnding);
  const std::filesystem::path of_shard =
      of_file.parent_path() / name.substr(0, ending);
  if (ending != name.npos && IsFile(of_shard.string() + ".index")) {
    return refuse("a shard of a checkpoint of TensorFlow", of_shard);
  }
  if (name == kStateFile) {
    if (const auto last = LastCheckpoint(of_file.parent_path())) {
      return refuse("the list of a folder's checkpoints", *last);
    }
  }
  if (const auto last = LastCheckpoint(of_file)) {
    return refuse("a folder of checkpoints of TensorFlow", *last);
  }
  const std::filesystem::path saved = of_file / "variables" / "variables";
  if (IsFile(absl::StrCat(saved.string(), kIndexEnding))) {
    return refuse("a SavedModel, which has a checkpoint of TensorFlow", saved);
  }
  return absl::OkStatus();
}

absl::StatusOr<TensorFlowWeights> OpenTensorFlowWeights(
    const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<CheckpointFile> file,
                   CheckpointFile::Open(path));
  TensorFlowWeights weights;
  const absl::Status status = ReadVariables(*file, weights);
  if (!status.ok()) return Annotate(status, path);
  weights.data = std::move(file);
  return weights;
}

std::vector<WeightPath> TensorFlowPaths(const Graph& graph,
                                        const ModelTree& model) {
  std::vector<WeightPath> paths;
  AddTensorFlowPaths(graph, model, "", paths);
  return paths;
}

std::vector<NamedWeight> TensorFlowNames(
    const Graph& graph, const Hdf5Index& index,
    const std::map<std::string, CheckpointVariable>& variables) {
  // By the name of a layer and the path in it, "lstm/cell/kernel".
  std::map<std::string, std::string> own;
  for (const ModelTree::Child& child : graph.tree.children) {
    for (size_t i = 0; i < child.variables.size(); ++i) {
      const std::string& name = graph.variables[child.variables[i]].name;
      own[absl::StrCat(child.name, "/",
                       PathInLayer(*child.layer, static_cast<int>(i), name))] =
          name;
    }
  }
  std::vector<NamedWeight> weights;
  for (const auto& [path, dataset] : index) {
    if (absl::StartsWith(path, kOptimizerPrefix)) continue;
    const std::string& layer = variables.at(path).layer;
    const std::string name =
        layer.empty() ? path : absl::StrCat(layer, path.substr(path.find('/')));
    const auto found = own.find(name);
    weights.push_back(
        {found == own.end() ? name : found->second, path, dataset.shape});
  }
  return weights;
}

}  // namespace paceline
