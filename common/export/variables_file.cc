#include "common/export/variables_file.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "common/base/atomic_file.h"
#include "common/base/status_macros.h"
#include "common/safetensors/safetensors.h"

namespace paceline {

absl::Status WriteVariablesFile(const std::string& path, const Graph& graph,
                                int64_t iterations,
                                const VariableReader& read) {
  std::vector<NamedTensor> tensors;
  for (const VariableSpec& variable : graph.variables) {
    NamedTensor& tensor = tensors.emplace_back();
    tensor.name = variable.name;
    tensor.shape = variable.shape;
    tensor.read = [&](int64_t offset_bytes, absl::Span<std::byte> out) {
      // Both are multiples of an element's size.
      return read(
          variable.name, offset_bytes / static_cast<int64_t>(sizeof(float)),
          {reinterpret_cast<float*>(out.data()), out.size() / sizeof(float)});
    };
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<AtomicFile> file,
                   AtomicFile::Create(path));
  return WriteSafetensors(*file, {{"step", absl::StrCat(iterations)}},
                          std::move(tensors))
      .status();
}

}  // namespace paceline
