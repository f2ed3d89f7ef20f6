#include "common/tfrecord/example_parser.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <cstdint>

#include "common/base/status_macros.h"

namespace paceline {
namespace {

using ::google::protobuf::internal::WireFormatLite;
using ::google::protobuf::io::CodedInputStream;

// Numbers of fields.
constexpr int kFeatures = 1;
constexpr int kEntry = 1;
constexpr int kEntryName = 1;
constexpr int kEntryFeature = 2;

absl::Status Malformed() {
  return absl::InvalidArgumentError("expected a serialized tf.train.Example");
}

// Calls `visit(number, bytes)` for each field of the message that has a length,
// until it returns an error, and skips all others.
template <typename Visit>
absl::Status VisitFields(absl::string_view message, const Visit& visit) {
  CodedInputStream in(reinterpret_cast<const uint8_t*>(message.data()),
                      static_cast<int>(message.size()));
  while (const uint32_t tag = in.ReadTag()) {
    if (WireFormatLite::GetTagWireType(tag) !=
        WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (!WireFormatLite::SkipField(&in, tag)) return Malformed();
      continue;
    }
    int size = 0;
    if (!in.ReadVarintSizeAsInt(&size)) return Malformed();
    const int begin = in.CurrentPosition();
    if (!in.Skip(size)) return Malformed();
    RETURN_IF_ERROR(visit(WireFormatLite::GetTagFieldNumber(tag),
                          message.substr(begin, size)));
  }
  return in.ConsumedEntireMessage() ? absl::OkStatus() : Malformed();
}

// An entry of the map: the name of a feature, and the feature's message.
struct Entry {
  absl::string_view name;
  absl::string_view feature;
};

absl::StatusOr<Entry> ReadEntry(absl::string_view bytes) {
  Entry entry;
  RETURN_IF_ERROR(VisitFields(bytes, [&](int field, absl::string_view value) {
    if (field == kEntryName) entry.name = value;
    if (field == kEntryFeature) entry.feature = value;
    return absl::OkStatus();
  }));
  return entry;
}

// Calls `visit` with the bytes of each entry of the map.
template <typename Visit>
absl::Status VisitEntries(absl::string_view record, const Visit& visit) {
  return VisitFields(record, [&](int field, absl::string_view features) {
    if (field != kFeatures) return absl::OkStatus();
    return VisitFields(features, [&](int inner, absl::string_view entry) {
      return inner == kEntry ? visit(entry) : absl::OkStatus();
    });
  });
}

}  // namespace

const char* FeatureKindName(FeatureKind kind) {
  switch (kind) {
    case FeatureKind::kNone:
      break;
    case FeatureKind::kBytes:
      return "bytes_list";
    case FeatureKind::kFloat:
      return "float_list";
    case FeatureKind::kInt64:
      return "int64_list";
  }
  return "no list";
}

absl::Status ExampleParser::Parse(absl::string_view record) {
  for (FeatureList& feature : features_) feature = {};
  return VisitEntries(
      record, [this](absl::string_view entry) { return ParseEntry(entry); });
}

absl::Status ExampleParser::ParseEntry(absl::string_view bytes) {
  ASSIGN_OR_RETURN(const Entry entry, ReadEntry(bytes));
  for (size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] != entry.name) continue;
    FeatureList& list = features_[i];
    list = {};
    RETURN_IF_ERROR(
        VisitFields(entry.feature, [&](int field, absl::string_view values) {
          if (field >= static_cast<int>(FeatureKind::kBytes) &&
              field <= static_cast<int>(FeatureKind::kInt64)) {
            list = {static_cast<FeatureKind>(field), values};
          }
          return absl::OkStatus();
        }));
  }
  return absl::OkStatus();
}

std::vector<std::string> FeatureNames(absl::string_view record, size_t limit) {
  std::vector<std::string> names;
  const absl::Status read =
      VisitEntries(record, [&](absl::string_view bytes) -> absl::Status {
        ASSIGN_OR_RETURN(const Entry entry, ReadEntry(bytes));
        if (names.size() < limit) names.emplace_back(entry.name);
        return absl::OkStatus();
      });
  return read.ok() ? names : std::vector<std::string>();
}

}  // namespace paceline
