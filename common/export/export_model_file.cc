#include "common/export/export_model_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "common/base/atomic_file.h"
#include "common/base/random_access.h"
#include "common/base/status_macros.h"
#include "common/export/variables_file.h"
#include "common/job/model_file.h"
#include "common/keras/keras_archive.h"
#include "common/onnx/onnx_writer.h"

namespace paceline {
namespace {

constexpr char kArchiveSuffix[] = ".keras";

absl::Status CheckFormat(const std::string& model, absl::string_view format) {
  const bool is_archive = absl::EndsWith(model, kArchiveSuffix);
  const bool is_possible = format == "weights"
                               ? is_archive
                               : format == "safetensors" || format == "onnx";
  if (is_possible) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      model, is_archive ? " is a .keras file" : " is no .keras file",
      ", of which ", format, " cannot be made; expected --format ",
      is_archive ? "weights, " : "", "safetensors or onnx"));
}

absl::Status CopyWeights(const std::string& model, const std::string& path) {
  ASSIGN_OR_RETURN(KerasArchive archive, KerasArchive::Open(model));
  ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccess> weights,
                   KerasArchive::OpenWeights(std::move(archive)));
  ASSIGN_OR_RETURN(const std::unique_ptr<AtomicFile> file,
                   AtomicFile::Create(path));
  constexpr int64_t kPieceBytes = 1 << 20;
  std::vector<std::byte> piece(kPieceBytes);
  const int64_t size = weights->size_bytes();
  for (int64_t offset = 0; offset < size; offset += kPieceBytes) {
    const int64_t count = std::min(kPieceBytes, size - offset);
    RETURN_IF_ERROR(
        weights->ReadAt(offset, absl::MakeSpan(piece.data(), count)));
    RETURN_IF_ERROR(file->Append({reinterpret_cast<const char*>(piece.data()),
                                  static_cast<size_t>(count)}));
  }
  return file->Commit();
}

}  // namespace

absl::Status ExportModelFile(const std::string& model, absl::string_view format,
                             const std::string& path) {
  RETURN_IF_ERROR(CheckFormat(model, format));
  std::error_code error;
  if (std::filesystem::equivalent(model, path, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is what is read, expected another file to write"));
  }
  // Also reads the weights' structure, of which nobody else would look at all.
  ASSIGN_OR_RETURN(const ModelFile file, OpenModelFile(model));
  if (file.weights == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        model, ": has no weights, expected a .keras file or a legacy .h5"));
  }
  if (format == "weights") return CopyWeights(model, path);
  std::map<absl::string_view, int> indices;
  for (size_t i = 0; i < file.graph.variables.size(); ++i) {
    indices[file.graph.variables[i].name] = static_cast<int>(i);
  }
  const auto read = [&](absl::string_view variable, int64_t begin,
                        absl::Span<float> out) {
    return file.weights->Read(indices.at(variable), begin, out);
  };
  if (format == "onnx") return WriteOnnx(path, file.graph, read);
  ASSIGN_OR_RETURN(const int64_t iterations, file.weights->ReadIterations());
  return WriteVariablesFile(path, file.graph, iterations, read);
}

}  // namespace paceline
