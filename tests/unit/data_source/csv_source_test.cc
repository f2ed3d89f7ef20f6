#include "common/data_source/csv_source.h"

#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "common/config/yaml_reader.h"
#include "common/data_source/feature_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/data/allocation_count.h"
#include "tests/unit/data_source/idx_files.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kIris[] =
    "sepal_length,sepal_width,species\n"
    "5.1,3.5,setosa\n"
    "6.4,3.2,versicolor\n"
    "6.3,3.3,virginica\n";

using DataSourcePtr = std::unique_ptr<const DataSource>;
using Numbers = std::vector<std::vector<double>>;

// What a job says: YAML, without the file.
absl::StatusOr<CsvSource> ReadSource(const std::string& fields) {
  ASSIGN_OR_RETURN(
      const Value value,
      ReadYaml(absl::StrCat("{file: f, ", fields, "}"), "y", 9999));
  const CsvSource* none = nullptr;
  return FieldsOf(none).Read(value, Path("csv"));
}

absl::StatusOr<DataSourcePtr> Open(
    const std::vector<std::string>& texts, const std::string& fields,
    Contents contents = Contents::kFeaturesAndLabels) {
  ASSIGN_OR_RETURN(CsvSource source, ReadSource(fields));
  source.file.files.clear();
  for (size_t i = 0; i < texts.size(); ++i) {
    source.file.files.push_back(
        {WriteTestFile(absl::StrCat("d", i, ".csv"), texts[i])});
  }
  return OpenCsvSource(source, contents);
}

Numbers ValuesOf(const std::vector<Elements>& arrays) {
  Numbers values;
  for (const Elements& array : arrays) {
    EXPECT_EQ(array.type, ElementType::kFloat64);
    const auto* begin = reinterpret_cast<const double*>(array.data);
    values.emplace_back(begin, begin + array.count);
  }
  return values;
}

// Expects that it opens, and reads an example.
Example ReadExample(const absl::StatusOr<DataSourcePtr>& source, int64_t index,
                    std::unique_ptr<ExampleReader>& reader) {
  if (!source.ok()) {
    ADD_FAILURE() << source.status();
    return {};
  }
  reader = *(*source)->MakeReader();
  const auto example = reader->Read(index);
  EXPECT_TRUE(example.ok()) << example.status();
  return example.ok() ? **example : Example();
}

// The error of an example, or of opening.
std::string ErrorOf(const std::string& text, const std::string& fields,
                    int64_t index = 0) {
  const auto source = Open({text}, fields);
  absl::Status status = source.status();
  if (source.ok()) status = (*(*source)->MakeReader())->Read(index).status();
  EXPECT_FALSE(status.ok()) << fields;
  return std::string(status.message());
}

TEST(CsvSourceTest, GivesRowsAsExamples) {
  const auto source =
      Open({kIris},
           "features: [sepal_width, sepal_length], labels: species, classes: "
           "[setosa, versicolor, virginica]");
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->example_count(), 3);
  EXPECT_THAT((*source)->name(),
              EndsWith("d0.csv: column \"sepal_width\" to column "
                       "\"sepal_length\""));
  const ExampleSpec& spec = (*source)->spec();
  ASSERT_THAT(spec.features, SizeIs(1));
  EXPECT_EQ(spec.features[0].name, "");
  EXPECT_THAT(spec.features[0].shape, ElementsAre(2));
  EXPECT_THAT(spec.labels[0].shape, IsEmpty());
  EXPECT_THAT(spec.labels[0].origin, EndsWith(": column \"species\""));
  EXPECT_THAT(spec.weights, IsEmpty());

  const auto reader = *(*source)->MakeReader();
  for (const int index : {2, 0, 1, 2}) {
    const Example& example = **reader->Read(index);
    EXPECT_THAT(ValuesOf(example.features),
                ElementsAre(std::vector<Numbers::value_type>{
                    {3.5, 5.1}, {3.2, 6.4}, {3.3, 6.3}}[index]));
    EXPECT_THAT(ValuesOf(example.labels), ElementsAre(ElementsAre(index)));
  }
}

TEST(CsvSourceTest, GivesSeveralArraysAndWeights) {
  std::unique_ptr<ExampleReader> reader;
  const auto source =
      Open({"a,b,w,c,y,v\n1,2,.5,3,7,8\n"},
           "features: {right: [c, a], left: b}, labels: {out: y, two: [v, y]}, "
           "sample_weight: {out: w}");
  const Example example = ReadExample(source, 0, reader);
  const ExampleSpec& spec = (*source)->spec();
  EXPECT_EQ(spec.features[0].name, "left");
  EXPECT_THAT(spec.features[0].shape, IsEmpty());
  EXPECT_EQ(spec.features[1].name, "right");
  EXPECT_EQ(spec.weights[0].name, "out");
  EXPECT_THAT(ValuesOf(example.features),
              ElementsAre(ElementsAre(2), ElementsAre(3, 1)));
  EXPECT_THAT(ValuesOf(example.labels),
              ElementsAre(ElementsAre(7), ElementsAre(8, 7)));
  EXPECT_THAT(ValuesOf(example.weights), ElementsAre(ElementsAre(.5)));
}

TEST(CsvSourceTest, FeaturesAreAllOtherColumnsUnlessTheyAreNamed) {
  std::unique_ptr<ExampleReader> reader;
  Example example =
      ReadExample(Open({"7;1;.5;2\n8;3;.25;4\n"},
                       "labels: 0, sample_weight: 2, header: false, "
                       "delimiter: ';'"),
                  1, reader);
  EXPECT_THAT(ValuesOf(example.features), ElementsAre(ElementsAre(3, 4)));
  EXPECT_THAT(ValuesOf(example.labels), ElementsAre(ElementsAre(8)));
  EXPECT_THAT(ValuesOf(example.weights), ElementsAre(ElementsAre(.25)));
  EXPECT_THAT(ErrorOf("y\n1\n", "labels: y"),
              EndsWith("has no columns besides labels and weights"));
}

TEST(CsvSourceTest, PredictionsNeedNoLabels) {
  std::unique_ptr<ExampleReader> reader;
  const std::string fields = "labels: y, sample_weight: w";
  for (const std::string text : {"a,b\n1,2\n", "a,y,b\n1,none,2\n"}) {
    const auto source = Open({text}, fields, Contents::kFeatures);
    const Example example = ReadExample(source, 0, reader);
    EXPECT_THAT(ValuesOf(example.features), ElementsAre(ElementsAre(1, 2)));
    EXPECT_THAT(example.labels, IsEmpty());
    EXPECT_THAT((*source)->spec().weights, IsEmpty());
  }
  const std::string path = WriteTestFile("f.csv", "a,b\n1,2\n3,4\n");
  const Example example = ReadExample(OpenFeatureFile(path), 1, reader);
  EXPECT_THAT(ValuesOf(example.features), ElementsAre(ElementsAre(3, 4)));
}

TEST(CsvSourceTest, SeveralFilesAreOneSet) {
  const auto source =
      Open({"x,y\n0,0\n1,1\n", "x,y\r\n2,2", "x,y\n3,3\n4,4\n"}, "labels: y");
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->example_count(), 5);
  EXPECT_THAT((*source)->Files().begins, ElementsAre(0, 2, 3));
  const auto reader = *(*source)->MakeReader();
  for (const int index : {0, 1, 2, 3, 4, 2, 0, 3}) {
    const auto example = reader->Read(index);
    ASSERT_TRUE(example.ok()) << example.status();
    EXPECT_THAT(ValuesOf((*example)->labels), ElementsAre(ElementsAre(index)));
  }
  EXPECT_THAT(
      std::string(
          Open({"x,y\n0,0\n", "y,x\n1,1\n"}, "labels: y").status().message()),
      HasSubstr("d1.csv: line 1: field 1 is \"y\", expected \"x\", as "
                "in "));
  EXPECT_THAT(
      std::string(
          Open({"x,y\n0,0\n", "x\n1\n"}, "labels: y").status().message()),
      HasSubstr("d1.csv: line 1: the number of fields is 1, expected 2, as "
                "in "));
  EXPECT_THAT(std::string(Open({"x,y\n0,0\n", "x,y\n1,1\n2,z\n"}, "labels: y")
                              .value()
                              ->MakeReader()
                              .value()
                              ->Read(2)
                              .status()
                              .message()),
              HasSubstr("d1.csv: line 3: column \"y\": is \"z\""));
}

TEST(CsvSourceTest, MissingFeaturesHaveAValueIfTheJobSaysWhich) {
  std::unique_ptr<ExampleReader> reader;
  const std::string text = "a,b,c,d,y\n,NA,\"\",-9,5\n";
  const std::string fields = "labels: y, na: [NA, '-9']";
  const Example example =
      ReadExample(Open({text}, fields + ", missing: -1.5"), 0, reader);
  EXPECT_THAT(ValuesOf(example.features),
              ElementsAre(ElementsAre(-1.5, -1.5, -1.5, -1.5)));
  EXPECT_THAT(ErrorOf(text, fields),
              EndsWith("d0.csv: line 2: column \"a\": is missing (\"\"), "
                       "expected a value"));
  EXPECT_THAT(ErrorOf("a,y\n1,\n", "labels: y, missing: 0"),
              EndsWith("column \"y\": is missing (\"\"), expected a value"))
      << "a label";
}

TEST(CsvSourceTest, AnErrorNamesLineAndColumnAndWhatIsThere) {
  const std::pair<std::string, std::string> cases[] = {
      {"nan", "is \"nan\", expected a number of float32"},
      {"1e999", "is \"1e999\", expected a number of float32"},
      {"\"1\"\"\"", "is \"1\\\"\", expected a number of float32"},
      {std::string("1\0", 2), "is \"1\\u0000\", expected a number of float32"},
      {"\xff", "is \"\xef\xbf\xbd\", expected a number of float32"},
      {std::string(1000, '-'),
       absl::StrCat("is \"", std::string(57, '-'), "...\", expected")}};
  for (const auto& [field, message] : cases) {
    EXPECT_THAT(
        ErrorOf(absl::StrCat("y,x\n0,1\n0,", field, "\n"), "labels: y", 1),
        HasSubstr("d0.csv: line 3: column \"x\": " + message));
  }
  EXPECT_THAT(ErrorOf("1\n2\nx\n", "labels: 0, features: 0, header: false", 2),
              EndsWith("line 3: column 0: is \"x\", expected a number of "
                       "float32"));
  const std::string classes =
      "features: sepal_length, labels: species, classes: ";
  EXPECT_THAT(ErrorOf(kIris, classes + "[versicolor, setosas]"),
              EndsWith("column \"species\": is \"setosa\", expected one of the "
                       "2 classes; did you mean \"setosas\"?"));
  EXPECT_THAT(ErrorOf(kIris, classes + "[b, a]"),
              EndsWith("expected one of the classes \"a\", \"b\""));
  EXPECT_THAT(ErrorOf(kIris, "features: sepal_length, labels: species"),
              HasSubstr("line 2: column \"species\": is \"setosa\", expected a "
                        "number"));
}

TEST(CsvSourceTest, AColumnThatIsNotThereIsNamed) {
  EXPECT_THAT(ErrorOf(kIris, "features: sepal_lenght, labels: species"),
              EndsWith("d0.csv: line 1: there is no column \"sepal_lenght\"; "
                       "did you mean \"sepal_length\"?"));
  EXPECT_THAT(ErrorOf(kIris, "labels: x"),
              EndsWith("there is no column \"x\"; known: \"sepal_length\", "
                       "\"sepal_width\", \"species\""));
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) names.push_back(absl::StrCat("long_name_", i));
  EXPECT_THAT(ErrorOf(absl::StrCat(absl::StrJoin(names, ","), "\n",
                                   std::string(11, ','), "\n"),
                      "labels: x"),
              EndsWith("\"long_name_9\" and 2 more"));
  EXPECT_THAT(ErrorOf("a,b,a\n1,2,3\n", "features: a, labels: b"),
              EndsWith("line 1: there are several columns \"a\", expected "
                       "one"));
  EXPECT_THAT(ErrorOf("1,2\n", "labels: 2, header: false"),
              EndsWith("there is no column 2, expected one from 0 to 1"));
}

TEST(CsvSourceTest, ClassesAreHeldAgainstTheModel) {
  const auto source = *Open(
      {kIris},
      "features: sepal_length, labels: species, classes: [setosa, versicolor, "
      "virginica]");
  EXPECT_TRUE(source->CheckClassIds(0, {3}).ok());
  EXPECT_TRUE(source->CheckClassIds(0, {10}).ok());
  EXPECT_THAT(std::string(source->CheckClassIds(0, {2}).message()),
              EndsWith("column \"species\": `classes` has 3 names, expected at "
                       "most the 2 of the model"));
  const auto numbers = *Open({"x,y\n1,9\n"}, "labels: y");
  EXPECT_TRUE(numbers->CheckClassIds(0, {2}).ok()) << "the row is not read";
}

TEST(CsvSourceTest, KnowsTheLineOfAnExample) {
  const auto source = *Open({"x,y\n1,9\n2,8\n", "x,y\n\"3\",7\n4,6\n"},
                            "features: x, labels: y");
  EXPECT_THAT(source->LocationOf(1), EndsWith(":3"));
  EXPECT_THAT(source->LocationOf(3), EndsWith(":3"));
  EXPECT_NE(source->LocationOf(1), source->LocationOf(3)) << "another file";
}

TEST(CsvSourceTest, EachOutputMayHaveItsClasses) {
  std::unique_ptr<ExampleReader> reader;
  const Example example =
      ReadExample(Open({"x,y,z\n1,b,5\n"},
                       "features: x, labels: {out: y, number: z}, classes: "
                       "{out: [a, b]}"),
                  0, reader);
  EXPECT_THAT(ValuesOf(example.labels),
              ElementsAre(ElementsAre(5), ElementsAre(1)));
}

TEST(CsvSourceTest, RefusesFieldsThatDoNotFit) {
  const std::pair<std::string, std::string> cases[] = {
      {"labels: 1",
       "csv.labels: expected names of columns, got the number 1, which is for "
       "`header: false`"},
      {"labels: 1, header: false, features: {a: [0, b]}",
       "csv.features.a: with `header: false` columns have numbers, got \"b\""},
      {"labels: -1",
       "csv.labels: expected the name of a column, or its number from 0 on, "
       "got -1"},
      {"labels: 1.5", "csv.labels: expected the name of a column"},
      {"labels: [a, null]", "csv.labels[1]: expected the name of a column"},
      {"labels: []", "csv.labels: the list is empty, expected columns"},
      {"labels: y, delimiter: ','''", "csv.delimiter: must be one of , ; : |"},
      {"labels: y, delimiter: '.'", "csv.delimiter: must be one of , ; : |"},
      {"labels: y, classes: []", "csv.classes: expected names of classes"},
      {"labels: y, classes: [a, b, a]", "csv.classes: \"a\" is there twice"},
      {"labels: {out: y}, classes: {ou: [a]}",
       "csv.classes.ou: expected a name of `labels`; did you mean \"out\"?"},
      {"features: a", "csv.labels: missing; expected column"}};
  for (const auto& [fields, message] : cases) {
    EXPECT_THAT(std::string(ReadSource(fields).status().message()),
                StartsWith(message))
        << fields;
  }
}

TEST(CsvSourceTest, AllocatesNothingOnceItIsWarm) {
  if (!kCountsAllocations) GTEST_SKIP() << "the sanitizer owns malloc";
  std::string text = "a,b,c,y\n";
  for (int i = 0; i < 20'000; ++i) {
    absl::StrAppend(&text, i, ",\"", i, "\",1e-", i % 30, ",\"a\"\"b\"\n");
  }
  const auto source = *Open({text, text}, "labels: y, classes: ['a\"b']");
  const auto reader = *source->MakeReader();
  ASSERT_TRUE(reader->Read(0).ok());
  const int64_t before = AllocationCount();
  for (int64_t i = 0; i < source->example_count(); ++i) {
    ASSERT_TRUE(reader->Read(i).ok());
    ASSERT_TRUE(reader->Read(i * 7919 % source->example_count()).ok());
  }
  EXPECT_EQ(AllocationCount(), before);
}

TEST(CsvSourceTest, AFileThatIsWrittenToEndsTheEpoch) {
  std::string text = "x,y\n";
  for (int i = 0; i < 10'000; ++i) absl::StrAppend(&text, i, ",1\n");
  const auto source = *Open({text}, "labels: y");
  const auto reader = *source->MakeReader();
  ASSERT_TRUE(reader->Read(0).ok());
  const std::string path = WriteTestFile("d0.csv", "x,y\n1,1\n");
  EXPECT_THAT(std::string(reader->Read(9'999).status().message()),
              StartsWith(path + ": was written to while it was read"));
}

}  // namespace
}  // namespace paceline
