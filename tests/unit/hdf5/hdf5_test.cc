#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/random_access.h"
#include "common/hdf5/hdf5_attributes.h"
#include "common/hdf5/hdf5_index.h"
#include "common/hdf5/hdf5_layout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr Hdf5Type kFloat32 = {Hdf5Type::Kind::kFloat, 4};

absl::StatusOr<Hdf5Index> Read(std::string bytes) {
  return ReadHdf5Index(*RandomAccessTo(std::move(bytes)));
}

std::string Fixture(const std::string& name) {
  std::ifstream file(
      absl::StrCat(PACELINE_SOURCE_DIR, "/tests/unit/hdf5/fixtures/", name),
      std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

template <typename T>
T NumberAt(const std::string& bytes, int64_t offset) {
  T number;
  std::memcpy(&number, bytes.data() + offset, sizeof(number));
  return number;
}

// A file of the layout's size; its elements are zero.
std::string FileOf(const std::vector<Hdf5Entry>& entries) {
  const Hdf5Layout layout(entries);
  std::string bytes = layout.head();
  bytes.resize(layout.size_bytes());
  return bytes;
}

std::vector<Hdf5Entry> ManyEntries(int count) {
  std::vector<Hdf5Entry> entries;
  for (int i = 0; i < count; ++i) {
    entries.push_back({absl::StrCat("optimizer/vars/", i), kFloat32, {i + 1}});
  }
  return entries;
}

TEST(Hdf5Index, ReadsWhatH5pyWrites) {
  const std::string bytes = Fixture("plain.h5");
  const auto index = Read(bytes);
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_EQ(index->size(), 25u);
  const Hdf5Dataset& eleventh = index->at("layers/dense/vars/11");
  EXPECT_EQ(eleventh.type, kFloat32);
  EXPECT_THAT(eleventh.shape, ElementsAre(2, 3));
  EXPECT_EQ(NumberAt<float>(bytes, eleventh.offset_bytes + 20), 11);
  EXPECT_EQ(index->at("half").type, (Hdf5Type{Hdf5Type::Kind::kFloat, 2}));
  EXPECT_EQ(index->at("double").type, (Hdf5Type{Hdf5Type::Kind::kFloat, 8}));
  EXPECT_EQ(index->at("flag").type, (Hdf5Type{Hdf5Type::Kind::kUnsigned, 1}));
  EXPECT_EQ(index->at("bfloat16").type, (Hdf5Type{Hdf5Type::Kind::kOpaque, 2}));
  const Hdf5Dataset& iteration = index->at("optimizer/vars/0");
  EXPECT_EQ(iteration.type, (Hdf5Type{Hdf5Type::Kind::kSigned, 8}));
  EXPECT_THAT(iteration.shape, IsEmpty());
  EXPECT_EQ(NumberAt<int64_t>(bytes, iteration.offset_bytes), 42);
}

TEST(Hdf5Index, RefusesByNameWhatItDoesNotRead) {
  const std::pair<const char*, const char*> cases[] = {
      {"gzip.h5", "layers/x: has filters (compression)"},
      {"chunked.h5", "layers/x: has a chunked dataset"},
      {"soft_link.h5", "has a soft link link"},
      {"external_link.h5", "has an external link"},
      {"external_data.h5", "x: has elements in an external file"},
      {"newest.h5", "has a superblock of version"},
  };
  for (const auto& [name, message] : cases) {
    const absl::Status status = Read(Fixture(name)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented)
        << name << ": " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message)) << name;
  }
}

TEST(Hdf5Index, RefusesOtherFiles) {
  for (const char* bytes : {"", "\x89HDF", "PK\x03\x04 and some more bytes"}) {
    EXPECT_EQ(Read(bytes).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(Hdf5Index, RefusesAFileThatIsCutAnywhere) {
  const std::string bytes = FileOf(ManyEntries(9));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Read(bytes.substr(0, size)).ok()) << size;
  }
}

// Whatever a changed byte says, what is read lies within the file.
TEST(Hdf5Index, SurvivesAnyChangedByte) {
  const std::string bytes = FileOf(ManyEntries(4));
  for (size_t place = 0; place < bytes.size(); ++place) {
    for (const int mask : {0x01, 0x80, 0xFF}) {
      std::string changed = bytes;
      changed[place] = static_cast<char>(changed[place] ^ mask);
      const auto index = Read(changed);
      if (!index.ok()) continue;
      for (const auto& [path, dataset] : *index) {
        EXPECT_GE(dataset.offset_bytes, 0) << path;
        EXPECT_LE(dataset.offset_bytes +
                      NumElements(dataset.shape) * dataset.type.size_bytes,
                  static_cast<int64_t>(bytes.size()))
            << path;
      }
    }
  }
}

TEST(Hdf5Index, RefusesAGroupThatHoldsItself) {
  std::string bytes = FileOf({{"a/b", kFloat32, {1}}});
  // The symbol of "a" in the root leads to the root itself.
  const auto root = NumberAt<uint64_t>(bytes, 64);
  const size_t node = bytes.rfind("SNOD");
  std::memcpy(bytes.data() + node + 16, &root, sizeof(root));
  const absl::Status status = Read(bytes).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("is part of another structure"));
}

TEST(Hdf5Layout, CanBeReadBack) {
  // One node, several nodes, and several levels of a tree.
  for (const int count : {1, 8, 9, 256, 257, 3000}) {
    const std::vector<Hdf5Entry> entries = ManyEntries(count);
    const Hdf5Layout layout(entries);
    const auto index = Read(FileOf(entries));
    ASSERT_TRUE(index.ok()) << count << ": " << index.status();
    ASSERT_EQ(index->size(), entries.size());
    for (size_t i = 0; i < entries.size(); ++i) {
      const Hdf5Dataset& dataset = index->at(entries[i].path);
      EXPECT_EQ(dataset.type, entries[i].type);
      EXPECT_EQ(dataset.shape, entries[i].shape);
      EXPECT_EQ(dataset.offset_bytes, layout.offset_bytes(i));
    }
  }
}

TEST(Hdf5Layout, HasGroupsThatAreEmpty) {
  const std::vector<Hdf5Entry> entries = ManyEntries(9);
  const Hdf5Layout layout(entries, {"vars", "optimizer/vars"});
  EXPECT_GT(layout.data_begin(), Hdf5Layout(entries).data_begin());
  std::string bytes = layout.head();
  bytes.resize(layout.size_bytes());
  const auto index = Read(bytes);
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_EQ(index->size(), entries.size());
}

TEST(Hdf5Layout, HasIntegersScalarsAndDoubles) {
  const Hdf5Type types[] = {{Hdf5Type::Kind::kSigned, 8},
                            {Hdf5Type::Kind::kUnsigned, 4},
                            {Hdf5Type::Kind::kFloat, 8},
                            {Hdf5Type::Kind::kFloat, 2}};
  std::vector<Hdf5Entry> entries;
  for (const Hdf5Type& type : types) {
    entries.push_back({absl::StrCat("x", entries.size()), type, {}});
  }
  const auto index = Read(FileOf(entries));
  ASSERT_TRUE(index.ok()) << index.status();
  for (const Hdf5Entry& entry : entries) {
    EXPECT_EQ(index->at(entry.path).type, entry.type);
    EXPECT_THAT(index->at(entry.path).shape, IsEmpty());
  }
}

std::string TextOfBytes(size_t size) {
  return std::string(size - 1, 'a') + "z";
}

TEST(Hdf5Layout, HasTextsOfAnySizeAsAttributes) {
  // Above what an attribute's message holds, and about what a collection of
  // HDF5's own library has.
  for (const size_t size : {1, 7, 8, 4000, 4030, 4080, 1 << 20}) {
    const std::vector<Hdf5Entry> entries = ManyEntries(9);
    const std::vector<Hdf5Attribute> attributes = {
        {"", "model_config", TextOfBytes(size)},
        {"optimizer", "inner", "x"},
        {"empty", "inner", "yy"},
        {"", "training_config", "\xC3\xA4"}};
    const Hdf5Layout layout(entries, {}, attributes);
    std::string bytes = layout.head();
    bytes.resize(layout.size_bytes());
    const auto file = RandomAccessTo(bytes);
    const auto texts =
        ReadHdf5Texts(*file, {"model_config", "training_config", "inner"});
    ASSERT_TRUE(texts.ok()) << size << ": " << texts.status();
    EXPECT_THAT(*texts, ElementsAre(Pair("model_config", TextOfBytes(size)),
                                    Pair("training_config", "\xC3\xA4")));
    const auto index = Read(bytes);
    ASSERT_TRUE(index.ok()) << size << ": " << index.status();
    EXPECT_EQ(index->size(), entries.size());
  }
}

TEST(Hdf5Layout, HasListsOfTextsAsAttributes) {
  // None, and as many as one attribute holds.
  const std::vector<std::string> full(kHdf5MaxListBytes / 8, "12345678");
  for (const std::vector<std::string>& list :
       {std::vector<std::string>{}, {"a", "", "bcd"}, full}) {
    const std::vector<Hdf5Attribute> attributes = {{"group", "names", list},
                                                   {"", "text", "x"}};
    const Hdf5Layout layout(ManyEntries(1), {}, attributes);
    std::string bytes = layout.head();
    bytes.resize(layout.size_bytes());
    const auto index = Read(bytes);
    ASSERT_TRUE(index.ok()) << list.size() << ": " << index.status();
    EXPECT_EQ(index->size(), 1);
  }
}

}  // namespace
}  // namespace paceline
