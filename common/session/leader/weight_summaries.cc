#include "common/session/leader/weight_summaries.h"

#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/callback/histogram.h"
#include "common/checkpoint/checkpoint_reader.h"
#include "common/image/image_limits.h"
#include "common/session/leader/weight_images.h"
#include "common/tensor/shape.h"

namespace paceline {
namespace {

// Elements that are read at a time: 1 MiB.
constexpr int64_t kPiece = 1 << 18;

absl::Status VisitPieces(
    CheckpointReader& reader, const VariableSpec& variable,
    absl::FunctionRef<void(absl::Span<const float>)> visit) {
  const int64_t count = NumElements(variable.shape);
  std::vector<float> piece(std::min(count, kPiece));
  for (int64_t begin = 0; begin < count; begin += kPiece) {
    const auto values = absl::MakeSpan(piece).first(
        static_cast<size_t>(std::min(kPiece, count - begin)));
    RETURN_IF_ERROR(reader.Read(variable.name, /*slot=*/"", begin, values));
    visit(values);
  }
  return absl::OkStatus();
}

absl::StatusOr<Histogram> HistogramOf(CheckpointReader& reader,
                                      const VariableSpec& variable) {
  HistogramMaker maker;
  RETURN_IF_ERROR(
      VisitPieces(reader, variable,
                  [&](absl::Span<const float> values) { maker.Look(values); }));
  RETURN_IF_ERROR(VisitPieces(
      reader, variable,
      [&](absl::Span<const float> values) { maker.Count(values); }));
  return maker.Make();
}

// None if PNG cannot hold them.
absl::StatusOr<std::vector<std::string>> ImagesOf(
    CheckpointReader& reader, const VariableSpec& variable,
    const WeightImageLayout& layout) {
  const int64_t count = NumElements(variable.shape);
  std::vector<std::string> none;
  if (count > kMaxImagePixels) {
    LOG(WARNING) << "TensorBoard gets no image of " << variable.name << ": "
                 << count << " elements; expected at most " << kMaxImagePixels;
    return none;
  }
  std::vector<float> values(static_cast<size_t>(count));
  RETURN_IF_ERROR(
      reader.Read(variable.name, /*slot=*/"", 0, absl::MakeSpan(values)));
  auto images = EncodeWeightImages(layout, values);
  if (images.ok()) return images;
  LOG(WARNING) << "TensorBoard gets no image of " << variable.name << ": "
               << images.status().message();
  return none;
}

}  // namespace

std::vector<std::string> WeightPathsOf(const Graph& graph) {
  std::vector<std::string> paths;
  for (const VariableSpec& variable : graph.variables) {
    paths.push_back(variable.name);
  }
  if (!graph.tree.is_sequential) return paths;
  for (const ModelTree::Child& child : graph.tree.children) {
    if (child.model != nullptr) continue;
    for (const int variable : child.variables) {
      paths[variable] = absl::StrCat(graph.tree.name, "/", paths[variable]);
    }
  }
  return paths;
}

absl::Status WriteWeightSummaries(const std::string& folder, const Graph& graph,
                                  const WriteWeights& weights,
                                  const std::string& run, EventFiles& files) {
  ASSIGN_OR_RETURN(const std::unique_ptr<CheckpointReader> reader,
                   CheckpointReader::Open(folder));
  RETURN_IF_ERROR(reader->CheckFits(graph.variables, /*slot_names=*/{}));
  const std::vector<std::string> paths = WeightPathsOf(graph);
  for (size_t i = 0; i < paths.size(); ++i) {
    const VariableSpec& variable = graph.variables[i];
    ASSIGN_OR_RETURN(const Histogram histogram, HistogramOf(*reader, variable));
    RETURN_IF_ERROR(files.WriteHistogram(
        run, weights.step, absl::StrCat(paths[i], "/histogram"), histogram));
    if (!weights.has_images) continue;
    const auto layout = LayOutWeightImages(variable.shape);
    if (!layout) continue;
    ASSIGN_OR_RETURN(const std::vector<std::string> images,
                     ImagesOf(*reader, variable, *layout));
    if (images.empty()) continue;
    RETURN_IF_ERROR(files.WriteImages(run, weights.step,
                                      absl::StrCat(paths[i], "/image"),
                                      layout->size, images));
  }
  return absl::OkStatus();
}

}  // namespace paceline
