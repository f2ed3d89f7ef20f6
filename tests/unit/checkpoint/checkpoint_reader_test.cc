#include "common/checkpoint/checkpoint_reader.h"

#include "common/checkpoint/manifest.h"
#include "gmock/gmock.h"
#include "tests/unit/checkpoint/checkpoint_fixture.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

class CheckpointReaderTest : public CheckpointTest {
 protected:
  // Reads the whole kernel of the only checkpoint.
  absl::Status ReadKernel(const std::string& folder) {
    auto reader = CheckpointReader::Open(folder);
    if (!reader.ok()) return reader.status();
    std::vector<float> values(21);
    return (*reader)->Read("dense/kernel", "", 0, absl::MakeSpan(values));
  }
};

template <typename T>
void ExpectEveryRange(CheckpointReader& reader) {
  for (const VariableSpec& variable : CheckpointVariables()) {
    for (const char* slot : {"", "momentum"}) {
      const int64_t size = NumElements(variable.shape);
      for (int64_t begin = 0; begin <= size; ++begin) {
        for (int64_t end = begin; end <= size; ++end) {
          std::vector<T> values(end - begin);
          const absl::Status status =
              reader.Read(variable.name, slot, begin, absl::MakeSpan(values));
          ASSERT_TRUE(status.ok()) << status;
          for (int64_t i = begin; i < end; ++i) {
            ASSERT_EQ(values[i - begin],
                      static_cast<T>(CheckpointElement(variable.name, slot, i)))
                << variable.name << slot << " " << i;
          }
        }
      }
    }
  }
}

TEST_F(CheckpointReaderTest, ReadsAnyRangeFromAnyNumberOfShards) {
  for (int shard_count : {1, 2, 3, 7}) {
    SCOPED_TRACE(shard_count);
    auto reader = CheckpointReader::Open(
        WriteCheckpoint<float>(shard_count, shard_count));
    ASSERT_TRUE(reader.ok()) << reader.status();
    ExpectEveryRange<float>(**reader);
    ExpectEveryRange<double>(**reader);
    EXPECT_EQ((*(*reader)->ShardMetadata(0))["shard"], "0");
  }
}

TEST_F(CheckpointReaderTest, ReadsFloat64AsBothTypes) {
  auto reader = CheckpointReader::Open(WriteCheckpoint<double>(1));
  ASSERT_TRUE(reader.ok()) << reader.status();
  ExpectEveryRange<double>(**reader);
  ExpectEveryRange<float>(**reader);
}

TEST_F(CheckpointReaderTest, RefusesRangesThatAreNotThere) {
  auto reader = CheckpointReader::Open(WriteCheckpoint(1));
  ASSERT_TRUE(reader.ok()) << reader.status();
  std::vector<float> values(2);
  absl::Status status =
      (*reader)->Read("dense/bias", "", 2, absl::MakeSpan(values));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("dense/bias"));
  status = (*reader)->Read("dense/other", "", 0, absl::MakeSpan(values));
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("dense/other"));
}

TEST_F(CheckpointReaderTest, SaysWhetherItFitsTheJob) {
  auto reader = CheckpointReader::Open(WriteCheckpoint(1));
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_TRUE((*reader)->CheckFits(CheckpointVariables(), {"momentum"}).ok());
  EXPECT_TRUE((*reader)->CheckFits(CheckpointVariables(), {}).ok());

  const auto expect_misfit = [&](const std::vector<VariableSpec>& variables,
                                 const std::vector<std::string>& slots,
                                 const std::string& culprit) {
    const absl::Status status = (*reader)->CheckFits(variables, slots);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(culprit));
  };
  expect_misfit(CheckpointVariables(), {"velocity"}, "velocity");
  std::vector<VariableSpec> variables = CheckpointVariables();
  variables[0].shape = {7, 4};
  expect_misfit(variables, {}, "dense/kernel has shape (7, 3)");
  variables = CheckpointVariables();
  variables[1].name = "dense/beta";
  expect_misfit(variables, {}, "no variable dense/beta");
  variables = CheckpointVariables();
  variables.pop_back();
  expect_misfit(variables, {}, "no variable scale");
}

TEST_F(CheckpointReaderTest, MissingShardFileIsNotFound) {
  const std::string folder = WriteCheckpoint(1);
  const std::string path = folder + "/" + ShardFileName(0, 2);
  std::filesystem::remove(path);
  const absl::Status status = ReadKernel(folder);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(path));
}

TEST_F(CheckpointReaderTest, DamagedShardFilesAreDataLoss) {
  const std::string folder = WriteCheckpoint(1);
  const std::string path = folder + "/" + ShardFileName(1, 2);
  const std::string sound = ReadBytes(path);
  const auto expect = [&](const std::string& bytes, const std::string& reason) {
    SCOPED_TRACE(reason);
    WriteBytes(path, bytes);
    const absl::Status status = ReadKernel(folder);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(path));
    EXPECT_THAT(std::string(status.message()), HasSubstr(reason));
  };
  expect(sound.substr(0, sound.size() - 4), "bytes of data");
  expect(sound.substr(0, 20), "cut");
  std::string flipped = sound;
  flipped.back() = static_cast<char>(flipped.back() ^ 1);
  expect(flipped, "CRC-32");
  WriteBytes(path, sound);
  EXPECT_TRUE(ReadKernel(folder).ok());
}

// The file is what its shard wrote, and yet not what the manifest says.
TEST_F(CheckpointReaderTest, TensorsThatContradictTheManifestAreDataLoss) {
  const std::vector<float> values(21);
  const auto bytes =
      absl::MakeSpan(reinterpret_cast<const std::byte*>(values.data()), 84);
  const auto read_with = [&](const std::string& name, const Shape& shape) {
    const std::string folder = *CreateCheckpointFolder(directory_, 1);
    Manifest manifest = MakeManifest(DataType::kFloat32, 1);
    manifest.variables = {{"dense/kernel", {7, 3}, {{0, 0, 21}}}};
    const auto written =
        WriteSafetensors(**AtomicFile::Create(folder + "/s"), {},
                         {{name, DataType::kFloat32, shape, bytes}});
    manifest.shards = {{"s", written->size_bytes, written->crc32, 1}};
    EXPECT_TRUE(WriteManifest(folder, manifest).ok());
    return ReadKernel(folder);
  };
  EXPECT_TRUE(read_with("dense/kernel", {7, 3}).ok());
  absl::Status status = read_with("dense/kernel", {3, 7});
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("(3, 7)"));
  status = read_with("dense/kernel2", {7, 3});
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("no tensor dense/kernel"));
}

}  // namespace
}  // namespace paceline
