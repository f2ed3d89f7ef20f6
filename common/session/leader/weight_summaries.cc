#include "common/session/leader/weight_summaries.h"

#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/callback/histogram.h"
#include "common/checkpoint/checkpoint_reader.h"
#include "common/checkpoint/manifest_content.h"
#include "common/session/leader/shard_file_collector.h"
#include "common/session/leader/weight_images.h"
#include "common/tensor/shape.h"

namespace paceline {
namespace {

// Elements that are read at a time: 1 MiB.
constexpr int64_t kPiece = 1 << 18;

// A checkpoint that is read in pieces, until it is to stop.
struct Pieces {
  using Visit = absl::FunctionRef<void(int64_t begin, absl::Span<const float>)>;

  // Visits the elements of the variable in their order.
  absl::Status Read(const VariableSpec& variable, Visit visit) const;

  CheckpointReader& reader;
  absl::FunctionRef<bool()> stops;
};

absl::Status Pieces::Read(const VariableSpec& variable, Visit visit) const {
  const int64_t count = NumElements(variable.shape);
  std::vector<float> piece(std::min(count, kPiece));
  for (int64_t begin = 0; begin < count; begin += kPiece) {
    if (stops()) return absl::CancelledError("the job ends");
    const auto values = absl::MakeSpan(piece).first(
        static_cast<size_t>(std::min(kPiece, count - begin)));
    RETURN_IF_ERROR(reader.Read(variable.name, /*slot=*/"", begin, values));
    visit(begin, values);
  }
  return absl::OkStatus();
}

absl::StatusOr<Histogram> HistogramOf(const Pieces& pieces,
                                      const VariableSpec& variable) {
  HistogramMaker maker;
  RETURN_IF_ERROR(pieces.Read(
      variable,
      [&](int64_t, absl::Span<const float> values) { maker.Look(values); }));
  RETURN_IF_ERROR(pieces.Read(
      variable,
      [&](int64_t, absl::Span<const float> values) { maker.Count(values); }));
  return maker.Make();
}

// None if they are refused, of which it warns if `warns`.
absl::StatusOr<std::vector<std::string>> ImagesOf(
    const Pieces& pieces, const VariableSpec& variable,
    const WeightImageLayout& layout, bool warns) {
  absl::Status refused = CheckWeightImages(layout);
  if (refused.ok()) {
    std::vector<float> drawn;
    drawn.reserve(static_cast<size_t>(layout.ElementCount()));
    RETURN_IF_ERROR(pieces.Read(
        variable, [&](int64_t begin, absl::Span<const float> values) {
          AppendDrawn(layout, begin, values, drawn);
        }));
    auto images = EncodeWeightImages(layout, drawn);
    if (images.ok()) return images;
    refused = images.status();
  }
  if (warns) {
    LOG(WARNING) << "TensorBoard gets no image of " << variable.name << ": "
                 << refused.message();
  }
  return std::vector<std::string>();
}

absl::Status CheckFilesAreThere(const std::string& folder,
                                const Manifest& manifest) {
  const std::vector<size_t> missing =
      ShardsElsewhere(folder, manifest.shards.size());
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "histogram_freq needs ", manifest.shards[missing.front()].file,
      ", which is not in ", folder,
      "; expected parameter servers on the leader's machine, or with an output "
      "folder that they share"));
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
                                  const std::string& run, EventFiles& files,
                                  absl::FunctionRef<bool()> stops) {
  ASSIGN_OR_RETURN(const std::unique_ptr<CheckpointReader> reader,
                   CheckpointReader::Open(folder));
  RETURN_IF_ERROR(reader->CheckFits(graph.variables, /*slot_names=*/{}));
  RETURN_IF_ERROR(CheckFilesAreThere(folder, reader->manifest()));
  const Pieces pieces{*reader, stops};
  const std::vector<std::string> paths = WeightPathsOf(graph);
  for (size_t i = 0; i < paths.size(); ++i) {
    const VariableSpec& variable = graph.variables[i];
    ASSIGN_OR_RETURN(const Histogram histogram, HistogramOf(pieces, variable));
    RETURN_IF_ERROR(files.WriteHistogram(
        run, weights.step, absl::StrCat(paths[i], "/histogram"), histogram));
    if (!weights.has_images) continue;
    const auto layout = LayOutWeightImages(variable.shape);
    if (!layout) continue;
    ASSIGN_OR_RETURN(const std::vector<std::string> images,
                     ImagesOf(pieces, variable, *layout,
                              /*warns=*/weights.step == 0));
    if (images.empty()) continue;
    RETURN_IF_ERROR(files.WriteImages(run, weights.step,
                                      absl::StrCat(paths[i], "/image"),
                                      layout->size, images));
  }
  return absl::OkStatus();
}

}  // namespace paceline
