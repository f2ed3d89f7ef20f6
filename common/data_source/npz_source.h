// A source with the arrays of a NumPy archive.
#ifndef PACELINE_COMMON_DATA_SOURCE_NPZ_SOURCE_H_
#define PACELINE_COMMON_DATA_SOURCE_NPZ_SOURCE_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/config/by_name.h"
#include "common/config/field_table.h"
#include "common/config/path.h"
#include "common/config/value.h"
#include "common/data_source/data_source.h"

namespace paceline {

// The name of an array in an archive: not empty, without NUL.
struct ArrayName {
  std::string text;
};

absl::Status ReadConfig(const Value& value, const Path& path, ArrayName& out);
Value WriteConfig(const ArrayName& name);
std::string ConfigType(const ArrayName*);

struct NpzSource {
  FilePath file;
  ByName<ArrayName> features = {{{"", {"x"}}}};
  ByName<ArrayName> labels = {{{"", {"y"}}}};
  std::optional<ByName<ArrayName>> sample_weight;
};

const FieldTable<NpzSource>& FieldsOf(const NpzSource*);

inline bool HasSampleWeight(const NpzSource& source) {
  return source.sample_weight.has_value();
}

// Opens the arrays; those that are large and not compressed stay in the archive
// (array_values.h). Errors are those of npz.h, and InvalidArgument if the
// numbers of examples differ.
absl::StatusOr<std::unique_ptr<const DataSource>> OpenNpzSource(
    const NpzSource& source, Contents contents = Contents::kFeaturesAndLabels);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_NPZ_SOURCE_H_
