// What a job file can say of its sources of data.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/job/job_checks.h"
#include "common/job/job_fields.h"
#include "common/job/job_files.h"
#include "common/job/job_fingerprint.h"
#include "common/job/job_reader.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::google::protobuf::util::MessageDifferencer;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

// A job whose line 9 is `source`.
absl::StatusOr<v1::Job> ReadWithSource(
    const std::string& source, const std::vector<std::string>& overrides = {}) {
  const std::string text = absl::StrCat(R"(strategy: parameter_server
model:
  layers: [{Input: {shape: [4]}}, {Dense: {units: 10}}]
loss: {SparseCategoricalCrossentropy: {from_logits: true}}
optimizer: SGD
batch_size_per_replica: 64
data:
  train:
    )",
                                        source, "\n");
  return ReadJob(text, "/jobs/job.yaml", overrides, {.check_files = false});
}

void ExpectSourceRefused(const std::string& source,
                         const std::string& message) {
  const absl::Status status = ReadWithSource(source).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << source;
  EXPECT_THAT(std::string(status.message()),
              StartsWith(absl::StrCat("/jobs/job.yaml:", message)));
}

// What is written of a job is read as the same job.
void ExpectReadAgain(const v1::Job& job) {
  const auto again = FieldsOf(&job).Read(WriteJob(job), Path());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(MessageDifferencer::Equals(*again, job));
}

std::vector<std::pair<std::string, std::string>> FieldsAndFiles(
    const v1::Job& job) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const JobFile& file : FilesOf(job)) {
    files.emplace_back(file.field.text(), file.path);
  }
  return files;
}

TEST(JobSources, SayHowTheyAreRead) {
  const std::string source = "npz: {file: digits.npz}";
  const auto plain = ReadWithSource(source);
  const auto job = ReadWithSource(
      source +
      "\n    cache: memory\n    on_error: skip\n    drop_remainder: true");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->data().train().cache(), "memory");
  EXPECT_EQ(job->data().train().on_error(), v1::ON_DATA_ERROR_SKIP);
  EXPECT_TRUE(job->data().train().drop_remainder());
  ExpectReadAgain(*job);
  EXPECT_NE(JobFingerprint(*job), JobFingerprint(*plain));
  const auto defaults = ReadWithSource(
      source +
      "\n    cache: none\n    on_error: fail\n    drop_remainder: false");
  ASSERT_TRUE(defaults.ok()) << defaults.status();
  EXPECT_EQ(JobFingerprint(*defaults), JobFingerprint(*plain));
  ExpectSourceRefused(source + "\n    on_error: ignore",
                      "10: data.train.on_error: ");
  ExpectSourceRefused(
      "idx: {features: x, labels: y, stream: true}\n    on_error: skip",
      "10: data.train.on_error: ");
}

TEST(JobSources, SayHowOftenAndHowFarAheadTheyAreRead) {
  const std::string source = "npz: {file: digits.npz}";
  const auto plain = ReadWithSource(source);
  const auto job = ReadWithSource(source + "\n    repeat: 3\n    prefetch: 8");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->data().train().repeat(), 3);
  EXPECT_EQ(job->data().train().prefetch(), 8);
  ExpectReadAgain(*job);
  EXPECT_NE(JobFingerprint(*job), JobFingerprint(*plain));
  for (const char* same : {"\n    prefetch: 8", "\n    repeat: 1"}) {
    EXPECT_EQ(JobFingerprint(*ReadWithSource(source + same)),
              JobFingerprint(*plain));
  }
  v1::Job spelt_out = *plain;
  spelt_out.mutable_data()->mutable_train()->set_repeat(1);
  EXPECT_EQ(JobFingerprint(spelt_out), JobFingerprint(*plain));
  ExpectSourceRefused(
      source + "\n  test:\n    npz: {file: t.npz}\n    repeat: 2",
      "12: data.test.repeat: 2: is of data.train alone");
  ExpectSourceRefused(source + "\n    repeat: 0", "10: data.train.repeat: ");
  ExpectSourceRefused(source + "\n    repeat: -1", "10: data.train.repeat: ");
  ExpectSourceRefused(source + "\n    prefetch: 1001",
                      "10: data.train.prefetch: ");
  ExpectSourceRefused(source + "\n    repeat: 2\nsteps_per_epoch: 5",
                      "10: data.train.repeat: expected 1, got 2");
}

TEST(JobSources, SayWhereExamplesAreKept) {
  const std::string source = "npz: {file: digits.npz}";
  const auto with = [&](const std::string& cache) {
    return ReadWithSource(source + "\n    cache: " + cache);
  };
  const auto plain = ReadWithSource(source);
  const auto file = with("sub/../examples.cache");
  ASSERT_TRUE(file.ok()) << file.status();
  ExpectReadAgain(*file);
  const std::string path = file->data().train().cache();
  EXPECT_THAT(path, StartsWith("/"));
  EXPECT_THAT(path, EndsWith("/examples.cache"));
  EXPECT_THAT(path, Not(HasSubstr("sub")));
  EXPECT_EQ(FieldsAndFiles(*file), FieldsAndFiles(*plain))
      << "it is no file to look for";
  EXPECT_EQ(with("/scratch/c")->data().train().cache(), "/scratch/c");
  EXPECT_EQ(JobFingerprint(*file), JobFingerprint(*plain));
  EXPECT_EQ(JobFingerprint(*with("memory")), JobFingerprint(*plain));
  for (const char* wrong : {"3", "''", "sub/", "./memory", "/tmp/none",
                            "https://host/x", "[a]", "..", "\"a\\0b\""}) {
    ExpectSourceRefused(source + "\n    cache: " + wrong,
                        "10: data.train.cache: ");
  }
  const std::string test = "c\n  test:\n    cache: ./c\n    npz: {file: ";
  EXPECT_TRUE(with(test + "digits.npz}").ok());
  EXPECT_THAT(with(test + "other.npz}").status().message(),
              HasSubstr("data.test.cache: "));
}

TEST(JobSources, SayHowReplicasDivideThem) {
  const std::string source = "npz: {file: digits.npz}";
  const auto plain = ReadWithSource(source);
  const auto with = [&](const std::string& policy) {
    return ReadWithSource(source + "\n    auto_shard_policy: " + policy);
  };
  const auto file = with("file");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->data().train().auto_shard_policy(),
            v1::AUTO_SHARD_POLICY_FILE);
  ExpectReadAgain(*file);
  // YAML 1.1 would take it for a bool.
  const auto off = with("off");
  ASSERT_TRUE(off.ok()) << off.status();
  EXPECT_EQ(off->data().train().auto_shard_policy(), v1::AUTO_SHARD_POLICY_OFF);
  ExpectReadAgain(*off);
  const std::string fingerprint = JobFingerprint(*plain);
  EXPECT_NE(JobFingerprint(*file), fingerprint);
  EXPECT_NE(JobFingerprint(*off), fingerprint);
  EXPECT_NE(JobFingerprint(*off), JobFingerprint(*file));
  EXPECT_EQ(JobFingerprint(*with("auto")), fingerprint);
  EXPECT_EQ(JobFingerprint(*with("data")), fingerprint) << "it is auto";
  ExpectSourceRefused(source + "\n    auto_shard_policy: files",
                      "10: data.train.auto_shard_policy: ");
}

// Evaluations count each example once.
TEST(JobSources, AreDividedForTrainingAlone) {
  for (const char* set : {"validation", "test"}) {
    const absl::Status status =
        ReadWithSource("npz: {file: digits.npz}",
                       {absl::StrCat("data.", set,
                                     "={npz: {file: other.npz}, "
                                     "auto_shard_policy: off}")})
            .status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat("data.", set,
                                       ".auto_shard_policy: off: is of "
                                       "data.train alone")));
  }
}

TEST(JobSources, AreDividedByAKnownPolicy) {
  auto job = ReadWithSource("npz: {file: digits.npz}");
  ASSERT_TRUE(job.ok()) << job.status();
  v1::Data& data = *job->mutable_data();
  *data.mutable_test() = data.train();
  data.mutable_test()->set_auto_shard_policy(v1::AutoShardPolicy{77});
  EXPECT_EQ(CheckJob(*job).message(),
            "data.test.auto_shard_policy: 77; expected a number of "
            "AutoShardPolicy, 0 to 3");
}

TEST(JobSources, HaveSteps) {
  const std::string source = "npz: {file: digits.npz}";
  const auto plain = ReadWithSource(source);
  const auto job = ReadWithSource(
      source + "\n    steps: [RandomFlip, Rescaling: {scale: 0.5}]");
  ASSERT_TRUE(job.ok()) << job.status();
  ASSERT_EQ(job->data().train().steps_size(), 2);
  EXPECT_EQ(job->data().train().steps(1).class_name(), "Rescaling");
  ExpectReadAgain(*job);
  EXPECT_EQ(WriteJob(*plain).Find("data")->Find("train")->Find("steps"),
            nullptr);
  EXPECT_NE(JobFingerprint(*job), JobFingerprint(*plain));
  ExpectSourceRefused(source + "\n    steps: [RandomFlip: {mode: up}]",
                      "10: data.train.steps[0].mode: ");
  ExpectSourceRefused(source + "\n    steps: [RandomFlop]",
                      "10: data.train.steps[0]");
}

// A source without a message of its own.
TEST(JobSources, AreNumpyArchives) {
  const std::string text = "npz: {file: digits.npz, features: x_train}";
  const auto job = ReadWithSource(text);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_THAT(FieldsAndFiles(*job),
              ElementsAre(Pair("data.train.npz.file", "/jobs/digits.npz")));

  EXPECT_EQ(job->data().train().other().config().fields().count("labels"), 0)
      << "a default";
  const Value written = WriteJob(*job);
  const Value* npz = written.Find("data")->Find("train")->Find("npz");
  ASSERT_NE(npz, nullptr);
  EXPECT_EQ(npz->Find("features")->as_string(), "x_train");
  EXPECT_EQ(npz->Find("labels")->as_string(), "y");
  ExpectReadAgain(*job);

  EXPECT_EQ(JobFingerprint(*job),
            JobFingerprint(
                *ReadWithSource(text, {"data.train.npz.file=/a/digits.npz"})));
  EXPECT_NE(JobFingerprint(*job), JobFingerprint(*ReadWithSource(
                                      text, {"data.train.npz.features=x"})));
}

// By the model's inputs and outputs.
TEST(JobSources, AreSeveralArraysOfAnArchive) {
  const std::string text =
      "npz: {file: d.npz, features: {right: x2, left: x1}, labels: {digit: y}}";
  const auto job = ReadWithSource(text);
  ASSERT_TRUE(job.ok()) << job.status();
  const auto& config = job->data().train().other().config().fields();
  const auto& features = config.at("features").struct_value().fields();
  EXPECT_EQ(features.size(), 2);
  EXPECT_EQ(features.at("left").string_value(), "x1");
  EXPECT_EQ(features.at("right").string_value(), "x2");
  const Value written = WriteJob(*job);
  const Value* labels =
      written.Find("data")->Find("train")->Find("npz")->Find("labels");
  ASSERT_NE(labels, nullptr);
  EXPECT_EQ(labels->Find("digit")->as_string(), "y");
  ExpectReadAgain(*job);
  EXPECT_EQ(JobFingerprint(*job),
            JobFingerprint(*ReadWithSource(
                text, {"data.train.npz.features={left: x1, right: x2}"})));
}

TEST(JobSources, AreSeveralIdxFiles) {
  const std::string text =
      "idx: {features: {right: r.gz, left: l.gz}, labels: /data/labels.gz}";
  const auto job = ReadWithSource(text);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_THAT(FieldsAndFiles(*job),
              ElementsAre(Pair("data.train.idx.features.left", "/jobs/l.gz"),
                          Pair("data.train.idx.features.right", "/jobs/r.gz"),
                          Pair("data.train.idx.labels", "/data/labels.gz")));
  ExpectReadAgain(*job);

  const std::string fingerprint = JobFingerprint(*job);
  EXPECT_EQ(
      fingerprint,
      JobFingerprint(*ReadWithSource(
          text, {"data.train.idx.features={left: /a/l.gz, right: /b/r.gz}"})));
  EXPECT_NE(fingerprint,
            JobFingerprint(*ReadWithSource(
                text, {"data.train.idx.features={left: r.gz, right: l.gz}"})));
}

TEST(JobSources, MayBeAStreamOfIdxFiles) {
  const std::string text = "idx: {features: f, labels: l}";
  const auto job = ReadWithSource(text, {"data.train.idx.stream=true"});
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_TRUE(job->data().train().idx().stream());
  ExpectReadAgain(*job);
  EXPECT_EQ(
      JobFingerprint(*ReadWithSource(text)),
      JobFingerprint(*ReadWithSource(text, {"data.train.idx.stream=false"})));
}

TEST(JobSources, AreRowsOfCsvFiles) {
  const std::string text =
      "csv: {file: [a.csv, 'https://host/b.csv'], features: {left: [a, b], "
      "right: c}, labels: y, classes: [no, yes], missing: 0}";
  const auto job = ReadWithSource(text);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_THAT(
      FieldsAndFiles(*job),
      ElementsAre(Pair("data.train.csv.file[0]", "/jobs/a.csv"),
                  Pair("data.train.csv.file[1]", "https://host/b.csv")));
  ExpectReadAgain(*job);

  const std::string fingerprint = JobFingerprint(*job);
  EXPECT_EQ(fingerprint, JobFingerprint(*ReadWithSource(
                             text, {"data.train.csv.file=[/x/a.csv, b.csv]",
                                    "data.train.csv.header=true"})));
  for (const std::string change :
       {"file=[b.csv, a.csv]", "labels=z", "classes=[yes, no]", "missing=1",
        "delimiter=;", "na=[NA]", "features={left: [b, a], right: c}"}) {
    EXPECT_NE(fingerprint, JobFingerprint(*ReadWithSource(
                               text, {"data.train.csv." + change})))
        << change;
  }
}

TEST(JobSources, MayBeOneCsvFileWithoutAHeader) {
  const auto job =
      ReadWithSource("csv: {file: a.csv, labels: 0, header: false}");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_THAT(FieldsAndFiles(*job),
              ElementsAre(Pair("data.train.csv.file", "/jobs/a.csv")));
  ExpectReadAgain(*job);
}

// Its end tells the path of a folder from that of a file.
TEST(JobSources, MayBeAFolderOfImages) {
  for (const char* folder : {"pets", "pets/"}) {
    const auto job = ReadWithSource(
        absl::StrCat("images: {folder: ", folder, ", image_size: 160}"));
    ASSERT_TRUE(job.ok()) << job.status();
    EXPECT_THAT(FieldsAndFiles(*job),
                ElementsAre(Pair("data.train.images.folder", "/jobs/pets/")));
    ExpectReadAgain(*job);
  }
}

// The end of such a folder has the last class alone.
TEST(JobSources, ImagesHaveSplitsOfTheirOwn) {
  const auto split = [](const std::string& more) {
    return ReadWithSource(absl::StrCat("images: {folder: pets, image_size: 160",
                                       more, "}\n  validation_split: 0.25"))
        .status();
  };
  for (const char* sorted :
       {"", ", seed: 1",
        ", validation_split: 0.5, subset: training, shuffle: false"}) {
    const absl::Status status = split(sorted);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << sorted;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("10: data.validation_split: takes the end"),
                      HasSubstr("`subset: training`")));
  }
  const absl::Status shuffled =
      split(", validation_split: 0.5, subset: training, seed: 1");
  EXPECT_TRUE(shuffled.ok()) << shuffled;
}

TEST(JobSources, AreRefusedWhereTheyAreMalformed) {
  const std::pair<std::string, std::string> cases[] = {
      {"npz:",
       "8: data.train: no source; expected idx: {features: PATH, labels: PATH} "
       "or npy: {features: PATH, labels: PATH} or npz: {file: PATH} or csv: "
       "{file: PATH, labels: COLUMN} or "
       "tfrecord: {file: PATH, features: NAME, labels: NAME} or images: "
       "{folder: PATH} or tfds: {folder: PATH}"},
      {"npz: {file: ''}", "9: data.train.npz.file: the path is empty"},
      {"npz: {features: x}", "9: data.train.npz.file: missing; expected path"},
      {"npz: {file: f, features: ''}",
       "9: data.train.npz.features: expected the name of an array, got \"\""},
      {"npz: {file: f, labels: \"y\\0\"}",
       "9: data.train.npz.labels: expected the name of an array, got "
       "\"y\\u0000\""},
      {"npz: {file: f, labels: 9007199254740993}",
       "9: data.train.npz.labels: must be within 2^53"},
      {"npz: {file: f, features: {}}",
       "9: data.train.npz.features: expected string or map of these with an "
       "entry, got an empty map"},
      {"npz: {file: f, features: {left: x, right: 3}}",
       "9: data.train.npz.features.right: expected a string, got 3"},
      {"npz: {file: f, features: {left: ''}}",
       "9: data.train.npz.features.left: expected the name of an array, got "
       "\"\""},
      {"npz: {file: f, labels: {'': y}}",
       "9: data.train.npz.labels: expected the name of an input or output of "
       "the model as key, got \"\""},
      {"idx: {features: {left: ''}, labels: l}",
       "9: data.train.idx.features.left: the path is empty"},
      {"csv: {file: [], labels: y}",
       "9: data.train.csv.file: expected 1 to 4096 paths, got 0"},
      {"csv: {file: [a, ''], labels: y}",
       "9: data.train.csv.file[1]: the path is empty"},
      {"csv: {file: a, labels: 9007199254740993, header: false}",
       "9: data.train.csv.labels: must be within 2^53"},
      {"csv: {file: a, labels: y, classes: [x, x]}",
       "9: data.train.csv.classes: \"x\" is there twice"},
      {"npz: {file: f, features: [x1, x2]}",
       "9: data.train.npz.features: expected a string, got "},
  };
  for (const auto& [source, message] : cases) {
    ExpectSourceRefused(source, message);
  }
}

TEST(JobSources, ExcludeEachOther) {
  ExpectSourceRefused("{npz: {file: f}, idx: {features: f, labels: l}}",
                      "9: data.train.npz: excludes idx; expected one of them");
}

}  // namespace
}  // namespace paceline
