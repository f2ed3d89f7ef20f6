#include "common/data_source/sources.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "common/config/message_fields.h"
#include "common/config/path.h"
#include "common/config/proto_value.h"
#include "common/config/references_of.h"
#include "common/config/value.h"
#include "common/data_source/csv_source.h"
#include "common/data_source/idx_source.h"
#include "common/data_source/images_source.h"
#include "common/data_source/npy_source.h"
#include "common/data_source/npz_source.h"
#include "common/data_source/tfds_source.h"
#include "common/data_source/tfrecord_source.h"

namespace paceline {
namespace {

using DataSourcePtr = std::unique_ptr<const DataSource>;

struct Source {
  Field<v1::Dataset> field;
  // Opens the source. Returns null if the data set has one of another kind.
  std::function<absl::StatusOr<DataSourcePtr>(const v1::Dataset&, Contents)>
      open;
  // Whether the data set's source is a stream, if it is of this kind.
  std::function<bool(const v1::Dataset&)> is_stream;
  // Whether it has weights of examples, if it is of this kind.
  std::function<bool(const v1::Dataset&)> has_sample_weight;
  std::string example;
  std::function<ClassReference()> reference;
};

template <typename S>
const FieldTable<S>& TableOf() {
  return FieldsOf(static_cast<const S*>(nullptr));
}

template <typename S>
bool IsNoStream(const S& /*source*/) {
  return false;
}

// The entry of a kind of source. `S` has the job's options for it, `member`
// accesses them in a data set, `open` opens the source.
template <typename S>
Source SourceOf(const Accessors<v1::Dataset, std::optional<S>>& member,
                absl::StatusOr<DataSourcePtr> (*open)(const S&, Contents),
                bool (*is_stream)(const S&) = IsNoStream<S>) {
  const FieldTable<S>& fields = TableOf<S>();
  return {Optional(fields.name(), member, fields.help()),
          [get = member.get, open](
              const v1::Dataset& dataset,
              Contents contents) -> absl::StatusOr<DataSourcePtr> {
            const std::optional<S> source = get(dataset);
            if (!source) return nullptr;
            return open(*source, contents);
          },
          [get = member.get, is_stream](const v1::Dataset& dataset) {
            const std::optional<S> source = get(dataset);
            return source && is_stream(*source);
          },
          [get = member.get](const v1::Dataset& dataset) {
            const std::optional<S> source = get(dataset);
            return source && HasSampleWeight(*source);
          },
          fields.Example(),
          [&fields] { return fields.Reference(); }};
}

// nullopt if the data set has a source of another kind. InvalidArgument for a
// malformed config, which a peer may have sent.
template <typename S>
absl::StatusOr<std::optional<S>> ReadOther(const v1::Dataset& dataset) {
  const FieldTable<S>& fields = TableOf<S>();
  const v1::SourceObject& other = dataset.other();
  if (other.name() != fields.name()) return std::nullopt;
  return fields.Read(ValueFromProto(other.config()), Path(fields.name()));
}

// Writes no defaults: the fingerprint of a job is a hash of these bytes, and
// must not depend on whether the job spells out a default.
template <typename S>
void WriteOther(v1::Dataset& dataset, const std::optional<S>& source) {
  if (!source) return;
  v1::SourceObject& other = *dataset.mutable_other();
  other.set_name(TableOf<S>().name());
  *other.mutable_config() =
      ToProtoStruct(TableOf<S>().WriteWithoutDefaults(*source));
}

// The entry of a kind of source without its own message.
template <typename S>
Source OtherSource(absl::StatusOr<DataSourcePtr> (*open)(const S&, Contents),
                   bool (*is_stream)(const S&) = IsNoStream<S>) {
  // A malformed source has no fields here; opening it returns the error.
  const auto get = [](const v1::Dataset& dataset) {
    return ReadOther<S>(dataset).value_or(std::nullopt);
  };
  Source other =
      SourceOf(Accessors<v1::Dataset, std::optional<S>>{get, WriteOther<S>},
               open, is_stream);
  other.field.read = [read = other.field.read](const Value& value,
                                               const Path& path,
                                               v1::Dataset& dataset) {
    RETURN_IF_ERROR(CheckWholeNumbers(value, path));
    return read(value, path, dataset);
  };
  other.open = [open](const v1::Dataset& dataset,
                      Contents contents) -> absl::StatusOr<DataSourcePtr> {
    ASSIGN_OR_RETURN(const std::optional<S> source, ReadOther<S>(dataset));
    if (!source) return nullptr;
    return open(*source, contents);
  };
  return other;
}

// Whether a field of a source names labels or their weights, which all sources
// call alike.
bool IsOfLabels(const Path& field, const Path& source) {
  const std::string prefixes[] = {source.Key("labels").text(),
                                  source.Key("sample_weight").text()};
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&](const std::string& prefix) {
                       return absl::StartsWith(field.text(), prefix);
                     });
}

const std::vector<Source>& Sources() {
  static const auto& sources = *new std::vector<Source>{
      SourceOf(Inner(&v1::Dataset::has_idx, &v1::Dataset::idx,
                     &v1::Dataset::mutable_idx),
               OpenIdxSource, IsIdxStream),
      OtherSource(OpenNpySource),
      OtherSource(OpenNpzSource),
      OtherSource(OpenCsvSource),
      OtherSource(OpenTfrecordSource),
      OtherSource(OpenImagesSource),
      OtherSource(OpenTfdsSource),
  };
  return sources;
}

}  // namespace

std::vector<Field<v1::Dataset>> SourceFields() {
  std::vector<Field<v1::Dataset>> fields;
  std::vector<std::string> before;
  for (const Source& source : Sources()) {
    fields.push_back(Excluding(before, source.field));
    before.push_back(source.field.info.key);
  }
  return fields;
}

std::string SourceExamples() {
  return absl::StrJoin(Sources(), " or ",
                       [](std::string* text, const Source& source) {
                         text->append(source.example);
                       });
}

std::vector<ClassReference> SourceReferences() {
  return ReferencesOf(Sources());
}

v1::Dataset SourceOnly(const v1::Dataset& dataset) {
  v1::Dataset source;
  if (dataset.has_idx()) *source.mutable_idx() = dataset.idx();
  if (dataset.has_other()) *source.mutable_other() = dataset.other();
  return source;
}

bool IsStream(const v1::Dataset& dataset) {
  return std::any_of(
      Sources().begin(), Sources().end(),
      [&dataset](const Source& source) { return source.is_stream(dataset); });
}

bool IsInOrderOfClasses(const v1::Dataset& dataset) {
  const std::optional<ImagesSource> images =
      ReadOther<ImagesSource>(dataset).value_or(std::nullopt);
  return images && IsInOrderOfClasses(*images);
}

bool HasSampleWeight(const v1::Dataset& dataset) {
  return std::any_of(Sources().begin(), Sources().end(),
                     [&dataset](const Source& source) {
                       return source.has_sample_weight(dataset);
                     });
}

void VisitSourceFiles(v1::Dataset& dataset, Contents contents, const Path& path,
                      FileVisitor visit) {
  for (const Source& source : Sources()) {
    if (!source.field.visit_files) continue;
    const Path of_source = path.Key(source.field.info.key);
    source.field.visit_files(
        dataset, of_source, [&](const Path& field, std::string& file) {
          if (contents == Contents::kFeatures && IsOfLabels(field, of_source)) {
            return;
          }
          visit(field, file);
        });
  }
}

absl::StatusOr<DataSourcePtr> OpenDataSource(const v1::Dataset& dataset,
                                             Contents contents) {
  for (const Source& source : Sources()) {
    ASSIGN_OR_RETURN(DataSourcePtr opened, source.open(dataset, contents));
    if (opened != nullptr) return opened;
  }
  const std::string& name = dataset.other().name();
  return absl::InvalidArgumentError(absl::StrCat(
      name.empty() ? "no source"
                   : absl::StrCat("unknown source ", Excerpt(name)),
      ", expected ", SourceExamples()));
}

}  // namespace paceline
