#include "common/data_source/feature_file.h"

#include <utility>

#include "absl/strings/match.h"
#include "common/base/status_macros.h"
#include "common/data_source/array_stream.h"
#include "common/data_source/csv_source.h"
#include "common/data_source/idx_source.h"
#include "common/data_source/npy.h"
#include "common/data_source/npz_source.h"

namespace paceline {

absl::StatusOr<std::unique_ptr<const DataSource>> OpenFeatureFile(
    const std::string& path) {
  if (absl::EndsWith(path, ".npy") || absl::EndsWith(path, ".npy.gz")) {
    const auto open = [path] { return OpenNpyRows(path, RowOrder::kOnce); };
    return OpenArrayStream(
        {.features = {{/*name=*/"", path, open}}, .labels = {}});
  }
  if (absl::EndsWith(path, ".npz")) {
    NpzSource source;
    source.file.text = path;
    return OpenNpzSource(source, Contents::kFeatures);
  }
  if (absl::EndsWith(path, ".csv")) {
    CsvSource source;
    source.file.files = {{path}};
    return OpenCsvSource(source, Contents::kFeatures);
  }
  v1::IdxSource source;
  source.set_features(path);
  return OpenIdxSource(source, Contents::kFeatures);
}

}  // namespace paceline
