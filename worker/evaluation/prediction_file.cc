#include "worker/evaluation/prediction_file.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/status_macros.h"
#include "common/data_source/npy.h"

namespace paceline {
namespace {

constexpr absl::string_view kArraySuffix = ".npy";
constexpr absl::string_view kTextSuffix = ".csv";

std::string TextOf(absl::Span<const float> outputs, size_t row_size) {
  std::string text;
  for (size_t i = 0; i < outputs.size(); ++i) {
    absl::StrAppendFormat(&text, "%.9g", outputs[i]);
    text.push_back((i + 1) % row_size == 0 ? '\n' : ',');
  }
  return text;
}

// `path` must have a suffix.
std::string PathOfOutput(absl::string_view path, absl::string_view name) {
  const size_t suffix = path.rfind('.');
  return absl::StrCat(path.substr(0, suffix), "-", name, path.substr(suffix));
}

}  // namespace

absl::Status CheckPredictionPath(const std::string& path) {
  if (absl::EndsWith(path, kArraySuffix) || absl::EndsWith(path, kTextSuffix)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--output: ", path, ", expected a file that ends in ",
                   kArraySuffix, " or ", kTextSuffix));
}

std::vector<std::string> PathsOfOutputs(absl::string_view path,
                                        absl::Span<const std::string> names) {
  if (names.size() == 1) return {std::string(path)};
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    std::string of_output = PathOfOutput(path, name);
    for (int suffix = 1; absl::c_linear_search(paths, of_output); ++suffix) {
      of_output = PathOfOutput(path, absl::StrCat(name, "_", suffix));
    }
    paths.push_back(std::move(of_output));
  }
  return paths;
}

absl::StatusOr<std::unique_ptr<PredictionFile>> PredictionFile::Create(
    const std::string& path, int64_t example_count, const Shape& shape) {
  ASSIGN_OR_RETURN(std::unique_ptr<AtomicFile> file, AtomicFile::Create(path));
  const bool is_text = absl::EndsWith(path, kTextSuffix);
  if (!is_text) {
    Shape whole = {example_count};
    whole.insert(whole.end(), shape.begin(), shape.end());
    RETURN_IF_ERROR(file->Append(NpyStart(whole)));
  }
  return std::unique_ptr<PredictionFile>(
      new PredictionFile(std::move(file), NumElements(shape), is_text));
}

absl::Status PredictionFile::Append(absl::Span<const float> outputs) {
  if (is_text_) {
    return file_->Append(TextOf(outputs, static_cast<size_t>(row_size_)));
  }
  return file_->Append({reinterpret_cast<const char*>(outputs.data()),
                        outputs.size() * sizeof(float)});
}

}  // namespace paceline
