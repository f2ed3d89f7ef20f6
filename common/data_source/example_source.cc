#include "common/data_source/example_source.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/file_window.h"
#include "common/base/status_macros.h"
#include "common/tfrecord/example_parser.h"
#include "glog/logging.h"

namespace paceline {
namespace {

using Arrays = std::vector<ExampleArray>;

std::vector<ArraySpec> SpecsOf(const Arrays& arrays) {
  std::vector<ArraySpec> specs;
  for (const ExampleArray& array : arrays) specs.push_back(array.spec);
  return specs;
}

// A record, by its file and its number in there.
struct Place {
  const TfrecordFile* file;
  int64_t record;
};

class ExampleSource : public DataSource {
 public:
  ExampleSource(std::vector<TfrecordFile> files,
                const ByArray<ExampleArray>& arrays)
      : files_(std::move(files)),
        arrays_(arrays),
        spec_{SpecsOf(arrays.features), SpecsOf(arrays.labels),
              SpecsOf(arrays.weights)},
        name_(spec_.features.front().origin) {
    if (files_.size() > 1) {
      // The error of an example names its file.
      const std::filesystem::path first = files_.front().path();
      name_ = absl::StrCat(first.parent_path().string(), ": ",
                           arrays.features.front().feature);
    }
    for (const TfrecordFile& file : files_) {
      ends_.push_back((ends_.empty() ? 0 : ends_.back()) + file.record_count());
    }
    CHECK_GT(ends_.back(), 0);
  }

  const std::string& name() const override { return name_; }
  const ExampleSpec& spec() const override { return spec_; }
  int64_t example_count() const override { return ends_.back(); }

  // They are known only once they are read.
  absl::Status CheckClassIds(size_t /*label*/,
                             const ClassIds& /*ids*/) const override {
    return absl::OkStatus();
  }

  std::vector<std::string> ClassNames(size_t label) const override {
    return arrays_.labels[label].class_names;
  }

  FileLayout Files() const override {
    FileLayout files;
    files.begins.insert(files.begins.end(), ends_.begin(), ends_.end() - 1);
    return files;
  }

  void VisitFolderFiles(FileNameVisitor visit) const override {
    for (const TfrecordFile& file : files_) visit(file.path());
  }

  absl::StatusOr<std::unique_ptr<ExampleReader>> MakeReader() const override;

  Place PlaceOf(int64_t example) const {
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), example);
    const auto index = end - ends_.begin();
    return {&files_[index], example - (index == 0 ? 0 : ends_[index - 1])};
  }
  const ByArray<ExampleArray>& arrays() const { return arrays_; }

 private:
  const std::vector<TfrecordFile> files_;
  // For each file, the number of examples in it and those before it.
  std::vector<int64_t> ends_;
  const ByArray<ExampleArray> arrays_;
  const ExampleSpec spec_;
  std::string name_;
};

// Of features, labels and weights, in this order.
std::vector<std::string> FeaturesOf(const ByArray<ExampleArray>& arrays) {
  std::vector<std::string> names;
  for (const auto* list : {&arrays.features, &arrays.labels, &arrays.weights}) {
    for (const ExampleArray& array : *list) names.push_back(array.feature);
  }
  return names;
}

std::vector<ExampleArrayReader> ReadersOf(const Arrays& arrays) {
  return {arrays.begin(), arrays.end()};
}

class Reader : public ExampleReader {
 public:
  explicit Reader(const ExampleSource& source)
      : source_(source),
        parser_(FeaturesOf(source.arrays())),
        readers_{ReadersOf(source.arrays().features),
                 ReadersOf(source.arrays().labels),
                 ReadersOf(source.arrays().weights)} {
    example_.features.resize(readers_.features.size());
    example_.labels.resize(readers_.labels.size());
    example_.weights.resize(readers_.weights.size());
  }

  absl::StatusOr<const Example*> Read(int64_t index) override {
    const Place place = source_.PlaceOf(index);
    ASSIGN_OR_RETURN(const TfrecordFile::Record record,
                     place.file->Read(place.record, window_));
    const absl::Status read = ReadExample(record.content);
    if (read.ok()) return &example_;
    return Annotate(read, place.file->NameOf(place.record, record.offset));
  }

 private:
  absl::Status ReadExample(absl::string_view record) {
    RETURN_IF_ERROR(parser_.Parse(record));
    size_t next = 0;
    RETURN_IF_ERROR(ReadArrays(readers_.features, next, example_.features));
    RETURN_IF_ERROR(ReadArrays(readers_.labels, next, example_.labels));
    return ReadArrays(readers_.weights, next, example_.weights);
  }

  // `next`: the number of the first of these arrays among the parser's.
  absl::Status ReadArrays(std::vector<ExampleArrayReader>& readers,
                          size_t& next, std::vector<Elements>& out) {
    for (size_t i = 0; i < readers.size(); ++i) {
      ASSIGN_OR_RETURN(out[i], readers[i].Read(parser_.feature(next++)));
    }
    return absl::OkStatus();
  }

  const ExampleSource& source_;
  ExampleParser parser_;
  ByArray<ExampleArrayReader> readers_;
  FileWindow window_;
  Example example_;
};

absl::StatusOr<std::unique_ptr<ExampleReader>> ExampleSource::MakeReader()
    const {
  return std::make_unique<Reader>(*this);
}

}  // namespace

std::unique_ptr<const DataSource> MakeExampleSource(
    std::vector<TfrecordFile> files, const ByArray<ExampleArray>& arrays) {
  return std::make_unique<ExampleSource>(std::move(files), arrays);
}

}  // namespace paceline
