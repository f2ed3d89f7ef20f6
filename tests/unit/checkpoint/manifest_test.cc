#include "common/checkpoint/manifest.h"

#include <functional>

#include "gmock/gmock.h"
#include "tests/unit/checkpoint/checkpoint_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ManifestTest : public CheckpointTest {};

TEST_F(ManifestTest, ReadsWhatItWrote) {
  const std::string folder = WriteCheckpoint(938);
  const auto manifest = ReadManifest(folder);
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  EXPECT_EQ(manifest->job_name, "job");
  EXPECT_EQ(manifest->job_fingerprint, "abc");
  EXPECT_EQ(manifest->step, 938);
  EXPECT_EQ(manifest->type, DataType::kFloat32);
  EXPECT_THAT(manifest->slot_names, ElementsAre("momentum"));
  ASSERT_EQ(manifest->shards.size(), 2u);
  EXPECT_EQ(manifest->shards[1].file, "shard-00001-of-00002.safetensors");
  EXPECT_EQ(manifest->shards[1].step, 17);
  ASSERT_EQ(manifest->variables.size(), 3u);
  EXPECT_EQ(manifest->variables[0].name, "dense/kernel");
  EXPECT_EQ(manifest->variables[0].parts.size(), 4u);
  EXPECT_EQ((*manifest->session)["epoch"], 3);
}

TEST_F(ManifestTest, NamesThePhaseAndTheCheckpointThatIsKept) {
  Manifest manifest = MakeManifest(DataType::kFloat32, 1);
  manifest.shards = {WriteShard<float>(directory_, manifest, 0, 1)};
  for (const char* const phase : {"", "head", "a \"b\""}) {
    for (const char* const kept : {"", "step-000000000007-2"}) {
      manifest.phase = phase;
      manifest.kept = kept;
      ASSERT_EQ(WriteManifest(directory_, manifest), absl::OkStatus());
      const auto read = ReadManifest(directory_);
      ASSERT_TRUE(read.ok()) << read.status();
      EXPECT_EQ(read->phase, phase);
      EXPECT_EQ(read->kept, kept);
    }
  }
}

TEST_F(ManifestTest, NamesTensorsByVariableSlotAndRange) {
  const StoredVariable variable = {"dense/kernel", {7, 3}, {}};
  EXPECT_EQ(TensorName(variable, {0, 0, 21}, ""), "dense/kernel");
  EXPECT_EQ(TensorName(variable, {0, 6, 9}, ""), "dense/kernel[6:15]");
  EXPECT_EQ(TensorName(variable, {0, 6, 9}, "momentum"),
            "dense/kernel/momentum[6:15]");
  EXPECT_THAT(TensorShape(variable, {0, 6, 9}), ElementsAre(3, 3));
}

TEST_F(ManifestTest, MissingManifestIsNotFound) {
  const absl::Status status = ReadManifest(directory_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("manifest.json"));
}

TEST_F(ManifestTest, IsNotWrittenUnlessTheShardsFilesAreThere) {
  Manifest manifest = MakeManifest(DataType::kFloat32, 1);
  manifest.shards = {WriteShard<float>(directory_, manifest, 0, 1)};
  manifest.shards[0].size_bytes += 1;
  absl::Status status = WriteManifest(directory_, manifest);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  manifest.shards[0].file = "elsewhere";
  status = WriteManifest(directory_, manifest);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("elsewhere"));
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/manifest.json"));
}

TEST_F(ManifestTest, RefusesDamagedManifests) {
  const std::string path = WriteCheckpoint(1) + "/manifest.json";
  const std::string folder = std::filesystem::path(path).parent_path();
  const std::string sound = ReadBytes(path);

  const auto expect = [&](const std::string& text, absl::StatusCode code,
                          const std::string& culprit) {
    SCOPED_TRACE(culprit);
    WriteBytes(path, text);
    const absl::Status status = ReadManifest(folder).status();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(path));
    EXPECT_THAT(std::string(status.message()), HasSubstr(culprit));
  };
  using Code = absl::StatusCode;
  expect(sound.substr(0, sound.size() / 2), Code::kDataLoss, "no JSON object");
  expect("[]", Code::kDataLoss, "no JSON object");

  const auto with = [&](const std::function<void(nlohmann::json&)>& change) {
    nlohmann::json document = nlohmann::json::parse(sound);
    change(document);
    return document.dump();
  };
  using J = nlohmann::json;
  expect(with([](J& m) { m["version"] = 2; }), Code::kUnimplemented,
         "format version 2; this program reads version 1");
  expect(with([](J& m) { m["format"] = "x"; }), Code::kDataLoss, "format");
  expect(with([](J& m) { m.erase("session"); }), Code::kDataLoss, "session");
  expect(with([](J& m) { m["step"] = -1; }), Code::kDataLoss, "step");
  expect(with([](J& m) { m["job"]["phase"] = 1; }), Code::kDataLoss,
         "job.phase");
  expect(with([](J& m) { m["kept"] = "../step-000000000001"; }),
         Code::kDataLoss, "kept");
  expect(with([](J& m) { m["dtype"] = "U8"; }), Code::kDataLoss, "dtype");
  expect(with([](J& m) { m["slots"] = {1}; }), Code::kDataLoss, "slots");
  expect(with([](J& m) { m["shards"][1]["file"] = "../x"; }), Code::kDataLoss,
         "shards[1].file");
  const std::string nul("shard\0", 6);
  for (const std::string& file :
       {std::string(".."), std::string("."), nul, std::string("a b"),
        std::string("\x1b[2J"), std::string(256, 'a')}) {
    expect(with([&](J& m) { m["shards"][1]["file"] = file; }), Code::kDataLoss,
           "shards[1].file");
  }
  expect(with([](J& m) { m["step"] = INT64_MAX; }), Code::kDataLoss,
         "step: 9223372036854775807; expected a whole number from 0 to");
  expect(with([](J& m) { m["shards"][0]["step"] = INT64_MAX; }),
         Code::kDataLoss, "shards[0].step");
  expect(with([](J& m) { m["shards"][0]["size_bytes"] = INT64_MAX; }),
         Code::kDataLoss, "shards[0].size_bytes");
  expect(with([](J& m) { m["shards"] = J::array(); }), Code::kDataLoss,
         "shards: []; expected 1 to");
  expect(with([](J& m) {
           m["variables"][0]["shape"] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
         }),
         Code::kDataLoss, "variables[0].shape");
  expect(with([](J& m) { m["shards"][0]["crc32"] = 1LL << 32; }),
         Code::kDataLoss, "shards[0].crc32");
  expect(with([](J& m) {
           m["variables"][0]["shape"] = {1LL << 40, 1 << 30};
         }),
         Code::kDataLoss, "variables[0].shape");
  expect(with([](J& m) { m["variables"][0]["parts"].erase(3); }),
         Code::kDataLoss, "variables[0].parts");
  expect(with([](J& m) { m["variables"][0]["parts"][1]["begin"] = 9; }),
         Code::kDataLoss, "variables[0].parts[1].begin");
  expect(with([](J& m) { m["variables"][0]["parts"][1]["shard"] = 2; }),
         Code::kDataLoss, "variables[0].parts[1].shard");
  expect(with([](J& m) { m["variables"][1] = m["variables"][0]; }),
         Code::kDataLoss, "variables");
}

TEST(CheckpointFileTest, ComesFromAPeerOnlyIfItCanBe) {
  v1::CheckpointFile file;
  file.set_name("shard-00000-of-00001.safetensors");
  file.set_size_bytes(5);
  file.set_step(7);
  const auto read = ReadCheckpointFile(file);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->size_bytes, 5);
  EXPECT_EQ(read->step, 7);
  const std::vector<std::function<void(v1::CheckpointFile&)>> changes = {
      [](auto& f) { f.set_name(""); },
      [](auto& f) { f.set_name("../manifest.json"); },
      [](auto& f) { f.set_size_bytes(~uint64_t{0}); },
      [](auto& f) { f.set_step(uint64_t{1} << 63); }};
  for (const auto& change : changes) {
    v1::CheckpointFile bent = file;
    change(bent);
    EXPECT_EQ(ReadCheckpointFile(bent).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace paceline
