#include "common/keras/safetensors_weights.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/status_macros.h"
#include "common/safetensors/safetensors.h"

namespace paceline {
namespace {

class TensorData final : public RandomAccess {
 public:
  TensorData(std::unique_ptr<SafetensorsFile> file, int64_t size_bytes)
      : file_(std::move(file)), size_bytes_(size_bytes) {}

  int64_t size_bytes() const override { return size_bytes_; }

  absl::Status ReadAt(int64_t offset_bytes,
                      absl::Span<std::byte> out) override {
    return file_->Read(offset_bytes, out);
  }

 private:
  const std::unique_ptr<SafetensorsFile> file_;
  const int64_t size_bytes_;
};

// Types that no variable has are kOther.
Hdf5Type TypeNamed(absl::string_view dtype) {
  using Kind = Hdf5Type::Kind;
  if (dtype == "F16") return {Kind::kFloat, 2};
  if (dtype == "F32") return {Kind::kFloat, 4};
  if (dtype == "F64") return {Kind::kFloat, 8};
  // As h5py stores it.
  if (dtype == "BF16") return {Kind::kOpaque, 2};
  if (dtype == "I32") return {Kind::kSigned, 4};
  if (dtype == "I64") return {Kind::kSigned, 8};
  return {Kind::kOther, 1};
}

void AddTensorPaths(const Graph& graph, const ModelTree& model,
                    const std::string& prefix, std::vector<WeightPath>& paths) {
  for (const ModelTree::Child& child : model.children) {
    const std::string name = absl::StrCat(prefix, child.name, "/");
    if (child.model != nullptr && child.callee < 0) {
      AddTensorPaths(graph, *child.model, name, paths);
    }
    for (const int variable : child.variables) {
      const absl::string_view own = absl::StripPrefix(
          graph.variables[variable].name, absl::StrCat(child.layer->name, "/"));
      paths.push_back({variable, absl::StrCat(name, own)});
    }
  }
}

}  // namespace

bool IsSafetensorsPath(absl::string_view path) {
  return absl::EndsWith(path, ".safetensors");
}

absl::StatusOr<TensorFile> OpenTensors(const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<SafetensorsFile> file,
                   SafetensorsFile::Open(path));
  TensorFile tensors;
  int64_t size_bytes = 0;
  for (const auto& [name, entry] : file->header().tensors) {
    Hdf5Dataset& dataset = tensors.index[name];
    dataset.type = TypeNamed(entry.dtype);
    dataset.shape = entry.shape;
    dataset.offset_bytes = entry.begin_bytes;
    size_bytes = std::max(size_bytes, entry.end_bytes);
  }
  tensors.data = std::make_unique<TensorData>(std::move(file), size_bytes);
  return tensors;
}

std::vector<WeightPath> TensorPaths(const Graph& graph,
                                    const ModelTree& model) {
  std::vector<WeightPath> paths;
  AddTensorPaths(graph, model, "", paths);
  return paths;
}

}  // namespace paceline
