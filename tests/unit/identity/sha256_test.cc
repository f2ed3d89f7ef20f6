#include "common/identity/sha256.h"

#include <cstdio>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

// FIPS 180-4's examples.
constexpr char kOfAbc[] =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr char kOfNothing[] =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr char kOfMillion[] =
    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST(Sha256Test, HashesBytesInPieces) {
  EXPECT_EQ(Sha256Hex(""), kOfNothing);
  EXPECT_EQ(Sha256Hex("abc"), kOfAbc);
  Sha256 hash;
  EXPECT_EQ(hash.Hex(), kOfNothing);
  hash.Update("ab");
  EXPECT_EQ(hash.Hex(), Sha256Hex("ab"));
  hash.Update("c");
  EXPECT_EQ(hash.Hex(), kOfAbc);
}

TEST(Sha256Test, KnowsItsText) {
  EXPECT_TRUE(IsSha256Hex(kOfAbc));
  EXPECT_FALSE(IsSha256Hex(""));
  EXPECT_FALSE(IsSha256Hex(std::string(63, 'a')));
  EXPECT_FALSE(IsSha256Hex(std::string(64, 'A')));
  EXPECT_FALSE(IsSha256Hex("../" + std::string(61, 'a')));
  EXPECT_FALSE(IsSha256Hex(std::string(64, '\0')));
}

TEST(Sha256Test, HashesAFile) {
  const std::string path = ::testing::TempDir() + "hashed_file";
  std::ofstream(path) << std::string(1'000'000, 'a');
  const auto file = HashFile(path, "data/a.bin");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->path(), "data/a.bin");
  EXPECT_EQ(file->sha256(), kOfMillion);
  EXPECT_EQ(file->size_bytes(), 1'000'000);

  // More than one piece.
  std::ofstream(path) << std::string(5'000'000, 'b');
  int pieces = 0;
  EXPECT_EQ(HashFile(path, "b", [&] { ++pieces; })->sha256(),
            Sha256Hex(std::string(5'000'000, 'b')));
  EXPECT_EQ(pieces, 5);
  std::remove(path.c_str());
}

TEST(Sha256Test, ErrorsNameTheFile) {
  const std::string path = ::testing::TempDir() + "no_such_file";
  const auto missing = HashFile(path, "a");
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.status().message()), HasSubstr(path));
  EXPECT_EQ(HashFile(::testing::TempDir(), "a").status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace paceline
