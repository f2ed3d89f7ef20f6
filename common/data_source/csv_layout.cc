#include "common/data_source/csv_layout.h"

#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/by_name.h"
#include "common/data_source/csv_columns.h"
#include "common/tensor/shape.h"

namespace paceline {
namespace {

using NamedColumns = ByName<CsvColumns>;

// Makes a layout from what a job says of columns.
class LayoutMaker {
 public:
  LayoutMaker(const CsvSource& source, const CsvFile& file)
      : source_(source), file_(file), finder_(file) {
    if (!source.classes) return;
    for (const auto& [labels, names] : source.classes->entries) {
      CsvClasses& ids = layout_.classes[labels];
      for (const std::string& name : names) {
        ids.emplace(name, static_cast<double>(ids.size()));
      }
    }
  }

  absl::StatusOr<CsvLayout> Make(Contents contents) && {
    if (source_.features) {
      RETURN_IF_ERROR(AddFeatures(*source_.features));
    } else {
      RETURN_IF_ERROR(AddOtherColumns());
    }
    if (contents == Contents::kFeatures) return std::move(layout_);
    for (const auto& [name, columns] : source_.labels.entries) {
      RETURN_IF_ERROR(Add(name, columns, {.classes = layout_.ClassesOf(name)},
                          layout_.spec.labels));
    }
    if (!source_.sample_weight) return std::move(layout_);
    for (const auto& [name, columns] : source_.sample_weight->entries) {
      RETURN_IF_ERROR(Add(name, columns, {}, layout_.spec.weights));
    }
    return std::move(layout_);
  }

 private:
  absl::Status AddFeatures(const NamedColumns& features) {
    for (const auto& [name, columns] : features.entries) {
      RETURN_IF_ERROR(Add(name, columns, {.if_missing = source_.missing},
                          layout_.spec.features));
    }
    return absl::OkStatus();
  }

  // Features of all columns that are not of labels or weights.
  absl::Status AddOtherColumns() {
    std::set<int64_t> taken;
    const auto take = [&](const NamedColumns& arrays) -> absl::Status {
      for (const auto& [name, columns] : arrays.entries) {
        for (const CsvColumn& column : columns.columns) {
          // One that is not there is an error if it is read.
          const absl::StatusOr<int64_t> index = finder_.Find(column);
          if (absl::IsNotFound(index.status())) continue;
          RETURN_IF_ERROR(index.status());
          taken.insert(*index);
        }
      }
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(take(source_.labels));
    if (source_.sample_weight) RETURN_IF_ERROR(take(*source_.sample_weight));
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < file_.column_count(); ++i) {
      if (taken.count(i) == 0) indices.push_back(i);
    }
    if (indices.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          file_.path(), ": has no columns besides labels and weights"));
    }
    AddArray("", indices, /*is_list=*/true, {.if_missing = source_.missing},
             layout_.spec.features);
    return absl::OkStatus();
  }

  // `value`: what holds for each value of the array.
  absl::Status Add(const std::string& name, const CsvColumns& columns,
                   const CsvValue& value, std::vector<ArraySpec>& specs) {
    std::vector<int64_t> indices;
    for (const CsvColumn& column : columns.columns) {
      ASSIGN_OR_RETURN(const int64_t index, finder_.Find(column));
      indices.push_back(index);
    }
    AddArray(name, indices, columns.is_list, value, specs);
    return absl::OkStatus();
  }

  void AddArray(const std::string& name, const std::vector<int64_t>& indices,
                bool is_list, const CsvValue& value,
                std::vector<ArraySpec>& specs) {
    std::string origin = absl::StrCat(file_.path(), ": ",
                                      DescribeColumn(file_, indices.front()));
    if (indices.size() > 1) {
      absl::StrAppend(&origin, " to ", DescribeColumn(file_, indices.back()));
    }
    specs.push_back({name, std::move(origin), ElementType::kFloat64,
                     is_list ? Shape{std::ssize(indices)} : Shape{}});
    for (const int64_t index : indices) {
      CsvValue& added = layout_.values.emplace_back(value);
      added.column = index;
      added.name = DescribeColumn(file_, index);
    }
  }

  const CsvSource& source_;
  const CsvFile& file_;
  const CsvColumnFinder finder_;
  CsvLayout layout_;
};

}  // namespace

const CsvClasses* CsvLayout::ClassesOf(const std::string& labels) const {
  auto found = classes.find(labels);
  if (found == classes.end()) found = classes.find("");
  return found == classes.end() ? nullptr : &found->second;
}

absl::StatusOr<CsvLayout> MakeCsvLayout(const CsvSource& source,
                                        const CsvFile& file,
                                        Contents contents) {
  return LayoutMaker(source, file).Make(contents);
}

}  // namespace paceline
