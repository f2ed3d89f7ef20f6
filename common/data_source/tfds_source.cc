#include "common/data_source/tfds_source.h"

#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "common/base/errno_error.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/config/json_reader.h"
#include "common/config/json_value.h"
#include "common/config/suggestion.h"
#include "common/config/value.h"
#include "common/data_source/folder_links.h"
#include "common/data_source/source_files.h"
#include "common/data_source/tfrecord_source.h"
#include "common/data_source/whole_file.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

// Size of each of the two JSON files, in bytes.
constexpr int64_t kMaxInfoBytes = int64_t{16} << 20;

absl::Status Wrong(const std::string& file, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(file, ": ", what));
}

// The value of keys within each other; null if one is missing.
const Value* FindIn(const Value& value,
                    std::initializer_list<absl::string_view> keys) {
  const Value* found = &value;
  for (const absl::string_view key : keys) {
    if (found == nullptr || !found->is_map()) return nullptr;
    found = found->Find(key);
  }
  return found;
}

// "" if it is none.
std::string TextIn(const Value& value,
                   std::initializer_list<absl::string_view> keys) {
  const Value* const found = FindIn(value, keys);
  return found != nullptr && found->is_string() ? found->as_string() : "";
}

// The integer, which proto3 writes as a string. Nullopt if it is none.
std::optional<int64_t> IntegerOf(const Value& value) {
  if (value.kind() == Value::Kind::kInt) return value.as_int();
  int64_t number = 0;
  if (!value.is_string() || !absl::SimpleAtoi(value.as_string(), &number)) {
    return std::nullopt;
  }
  return number;
}

// The list of integers. Nullopt if it is none.
std::optional<std::vector<int64_t>> IntegersIn(
    const Value& value, std::initializer_list<absl::string_view> keys) {
  const Value* const found = FindIn(value, keys);
  if (found == nullptr || !found->is_list()) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Value& each : found->as_list()) {
    const std::optional<int64_t> number = IntegerOf(each);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

// A prepared data set.
class Prepared {
 public:
  static absl::StatusOr<Prepared> Open(const std::string& folder) {
    Prepared set;
    set.folder_ = folder.ends_with('/') ? folder : folder + "/";
    std::error_code error;
    set.real_folder_ = fs::canonical(folder, error);
    if (error) return ErrnoError("cannot open", folder, error);
    ASSIGN_OR_RETURN(set.info_, set.ReadInfo("dataset_info.json"));
    ASSIGN_OR_RETURN(set.features_, set.ReadInfo("features.json"));
    return set;
  }

  std::string InfoFile() const { return folder_ + "dataset_info.json"; }
  std::string FeaturesFile() const { return folder_ + "features.json"; }

  // The paths of the split's shards, and how many examples they have together.
  struct Shards {
    SourceFiles files;
    int64_t example_count = 0;
  };
  absl::StatusOr<Shards> ShardsOf(const std::string& split) const;

  // The name of the supervised key: 0 for features, 1 for labels.
  absl::StatusOr<std::string> SupervisedKey(size_t index) const;

  // Adds to a feature what the data set says of it.
  absl::Status Complete(ExampleFeature& feature) const;

 private:
  // A file of the folder; links may not lead out of it.
  absl::StatusOr<std::string> PathOf(const std::string& name) const {
    std::string path = folder_ + name;
    RETURN_IF_ERROR(TargetWithin(path, real_folder_).status());
    return path;
  }

  absl::StatusOr<Value> ReadInfo(const std::string& name) const {
    ASSIGN_OR_RETURN(const std::string path, PathOf(name));
    WholeFileReader reader(real_folder_, kMaxInfoBytes);
    ASSIGN_OR_RETURN(const absl::string_view text, reader.Read(path));
    return ReadJson(std::string(text), path, kMaxInfoBytes);
  }

  absl::StatusOr<const Value*> FindSplit(const std::string& name) const;
  // The lines of the file with the names of a feature's classes. Empty: there
  // is none, or it is empty.
  absl::StatusOr<std::vector<std::string>> ClassNames(
      const std::string& feature, const Value& class_label) const;

  std::string folder_;
  fs::path real_folder_;
  Value info_;
  Value features_;
};

absl::StatusOr<const Value*> Prepared::FindSplit(
    const std::string& name) const {
  std::vector<std::string> known;
  const Value* const splits = FindIn(info_, {"splits"});
  if (splits != nullptr && splits->is_list()) {
    for (const Value& split : splits->as_list()) {
      known.push_back(TextIn(split, {"name"}));
      if (known.back() == name) return &split;
    }
  }
  return Wrong(InfoFile(), absl::StrCat("has no split \"", PeerText(name), "\"",
                                        Suggestion(name, known)));
}

absl::StatusOr<Prepared::Shards> Prepared::ShardsOf(
    const std::string& split) const {
  ASSIGN_OR_RETURN(const Value* const entry, FindSplit(split));
  const auto lengths = IntegersIn(*entry, {"shardLengths"});
  if (!lengths || lengths->empty() || lengths->size() > kMaxSourceFiles) {
    return Wrong(
        InfoFile(),
        absl::StrCat("expected `shardLengths` of the split, with 1 to ",
                     kMaxSourceFiles, " integers"));
  }
  std::string format = TextIn(info_, {"fileFormat"});
  if (format.empty()) format = "tfrecord";
  if (format != "tfrecord") {
    return Wrong(InfoFile(),
                 absl::StrCat("the format of the files is \"", PeerText(format),
                              "\"; expected \"tfrecord\""));
  }
  std::string pattern = TextIn(*entry, {"filepathTemplate"});
  if (pattern.empty())
    pattern = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}";
  Shards shards;
  for (size_t i = 0; i < lengths->size(); ++i) {
    const std::string number = absl::StrFormat("%05d", i);
    const std::string count = absl::StrFormat("%05d", lengths->size());
    const std::string name = absl::StrReplaceAll(
        pattern, {{"{DATASET}", TextIn(info_, {"name"})},
                  {"{SPLIT}", split},
                  {"{FILEFORMAT}", format},
                  {"{SHARD_INDEX}", number},
                  {"{NUM_SHARDS}", count},
                  {"{SHARD_X_OF_Y}", absl::StrCat(number, "-of-", count)}});
    if (name.find('/') != std::string::npos ||
        name.find('\0') != std::string::npos) {
      return Wrong(InfoFile(), absl::StrCat("\"", PeerText(name),
                                            "\" is not the name of a file"));
    }
    ASSIGN_OR_RETURN(const std::string path, PathOf(name));
    shards.files.files.push_back({path});
    const int64_t length = (*lengths)[i];
    if (length < 0 || length > (int64_t{1} << 40)) {
      return Wrong(InfoFile(), absl::StrCat("a shard has the length ", length));
    }
    shards.example_count += length;
  }
  return shards;
}

absl::StatusOr<std::string> Prepared::SupervisedKey(size_t index) const {
  const Value* const items =
      FindIn(info_, {"supervisedKeys", "tuple", "items"});
  std::string key;
  if (items != nullptr && items->is_list() && items->as_list().size() > index) {
    key = TextIn(items->as_list()[index], {"featureKey"});
  }
  if (key.empty()) {
    key = TextIn(info_, {"supervisedKeys", index == 0 ? "input" : "output"});
  }
  if (!key.empty()) return key;
  return Wrong(InfoFile(), absl::StrCat("has no supervised keys; expected `",
                                        index == 0 ? "features" : "labels",
                                        "` in the job"));
}

absl::StatusOr<std::vector<std::string>> Prepared::ClassNames(
    const std::string& feature, const Value& class_label) const {
  // No file has such a name.
  if (feature.find('\0') != std::string::npos) {
    return std::vector<std::string>();
  }
  const std::string file =
      absl::StrCat(absl::StrReplaceAll(feature, {{"/", "."}}), ".labels.txt");
  const absl::StatusOr<std::string> path = PathOf(file);
  if (absl::IsNotFound(path.status())) return std::vector<std::string>();
  RETURN_IF_ERROR(path.status());
  WholeFileReader reader(real_folder_, kMaxInfoBytes);
  ASSIGN_OR_RETURN(const absl::string_view text, reader.Read(*path));
  std::vector<std::string> names;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::string_view name = absl::StripAsciiWhitespace(line);
    if (!name.empty()) names.emplace_back(name);
  }
  const Value* const count = FindIn(class_label, {"numClasses"});
  const auto classes = static_cast<int64_t>(names.size());
  if (names.empty() || count == nullptr || IntegerOf(*count) == classes) {
    return names;
  }
  return Wrong(*path,
               absl::StrCat("has ", classes, " names of classes; expected ",
                            PeerText(ToJson(*count).dump()),
                            ", the `numClasses` of features.json"));
}

absl::Status Prepared::Complete(ExampleFeature& feature) const {
  const Value* const all = FindIn(features_, {"featuresDict", "features"});
  if (all == nullptr || !all->is_map()) {
    return Wrong(FeaturesFile(), "expected a `featuresDict` with `features`");
  }
  const Value* const entry = all->Find(feature.feature);
  if (entry == nullptr) {
    std::vector<std::string> known;
    for (const Value::Entry& each : all->as_map()) known.push_back(each.key);
    return Wrong(FeaturesFile(),
                 absl::StrCat("has no feature \"", PeerText(feature.feature),
                              "\"", Suggestion(feature.feature, known)));
  }
  if (FindIn(*entry, {"image"}) != nullptr) {
    const std::string type = TextIn(*entry, {"image", "dtype"});
    if (!type.empty() && type != "uint8") {
      return Wrong(
          FeaturesFile(),
          absl::StrCat("feature \"", feature.feature, "\" is an image of ",
                       PeerText(type), "; expected uint8"));
    }
    const auto shape = IntegersIn(*entry, {"image", "shape", "dimensions"});
    if (feature.color_mode || !shape || shape->size() != 3) {
      return absl::OkStatus();
    }
    feature.color_mode = (*shape)[2] == 1   ? ColorMode::kGrayscale
                         : (*shape)[2] == 4 ? ColorMode::kRgba
                                            : ColorMode::kRgb;
    return absl::OkStatus();
  }
  if (const Value* const label = FindIn(*entry, {"classLabel"})) {
    ASSIGN_OR_RETURN(feature.class_names, ClassNames(feature.feature, *label));
    return absl::OkStatus();
  }
  const std::string encoding = TextIn(*entry, {"tensor", "encoding"});
  if (!encoding.empty() && encoding != "none") {
    return Wrong(
        FeaturesFile(),
        absl::StrCat("feature \"", feature.feature, "\" has the encoding ",
                     PeerText(encoding), "; expected none"));
  }
  const auto shape = IntegersIn(*entry, {"tensor", "shape", "dimensions"});
  if (feature.shape || !shape || shape->empty()) return absl::OkStatus();
  for (const int64_t size : *shape) {
    // Unknown: as the first example has it.
    if (size < 1) return absl::OkStatus();
  }
  const Shape of_example(shape->begin(), shape->end());
  if (!IsShapeOfExample(of_example)) {
    return Wrong(FeaturesFile(),
                 absl::StrCat("feature \"", PeerText(feature.feature),
                              "\" has dimensions beyond the limits of an "
                              "array"));
  }
  feature.shape = of_example;
  return absl::OkStatus();
}

// What a job names, or else the data set's supervised key.
absl::StatusOr<ByName<ExampleFeature>> Completed(
    const Prepared& set, const std::optional<ByName<ExampleFeature>>& named,
    size_t supervised_key) {
  ByName<ExampleFeature> all;
  if (named) {
    all = *named;
  } else {
    ASSIGN_OR_RETURN(all.entries[""].feature,
                     set.SupervisedKey(supervised_key));
  }
  for (auto& [name, feature] : all.entries) {
    RETURN_IF_ERROR(set.Complete(feature));
  }
  return all;
}

}  // namespace

const FieldTable<TfdsSource>& FieldsOf(const TfdsSource*) {
  static const auto& table = *new FieldTable<TfdsSource>(
      "tfds",
      "A data set as TensorFlow Datasets prepares it, in TFRecord files. "
      "Examples are read as they are needed, in any order.",
      {Required("folder", &TfdsSource::folder,
                "The folder of a version, with dataset_info.json and "
                "features.json: `mnist/3.0.1`."),
       Optional("split", &TfdsSource::split, "The name of the split."),
       Optional("features", &TfdsSource::features,
                "As of `tfrecord`. Default: the input of the data set's "
                "supervised keys. Images have the channels that features.json "
                "says; those of different sizes need an `image_size`: "
                "`{feature: image, image_size: [160, 160]}`."),
       Optional("labels", &TfdsSource::labels,
                "As of `tfrecord`. Default: the output of the supervised "
                "keys."),
       Optional("sample_weight", &TfdsSource::sample_weight,
                "As of `tfrecord`.")});
  return table;
}

absl::StatusOr<std::unique_ptr<const DataSource>> OpenTfdsSource(
    const TfdsSource& source, Contents contents) {
  ASSIGN_OR_RETURN(const Prepared set, Prepared::Open(source.folder.text));
  ASSIGN_OR_RETURN(Prepared::Shards shards, set.ShardsOf(source.split));
  TfrecordSource records;
  records.file = std::move(shards.files);
  ASSIGN_OR_RETURN(records.features, Completed(set, source.features, 0));
  if (contents == Contents::kFeaturesAndLabels) {
    ASSIGN_OR_RETURN(records.labels, Completed(set, source.labels, 1));
    if (source.sample_weight) {
      ASSIGN_OR_RETURN(records.sample_weight,
                       Completed(set, source.sample_weight, 1));
    }
  }
  ASSIGN_OR_RETURN(std::unique_ptr<const DataSource> opened,
                   OpenTfrecordSource(records, contents));
  if (opened->example_count() != shards.example_count) {
    return absl::DataLossError(absl::StrFormat(
        "%s: the shards of the split have %d examples together; the file says "
        "%d",
        set.InfoFile(), opened->example_count(), shards.example_count));
  }
  return opened;
}

}  // namespace paceline
