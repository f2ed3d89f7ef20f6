#include "worker/device/program/program_layout.h"

#include "gtest/gtest.h"

namespace paceline {
namespace {

ArenaBlock Block(int64_t size_bytes, int first, int last, int owner) {
  return {.lifetime = {size_bytes, first, last}, .owner = owner};
}

TEST(ProgramLayoutTest, NamesTheOwnerOfMostAtThePeak) {
  ProgramLayout layout;
  layout.owners = {"batch", "layer a", "layer b"};
  layout.operation_owners = {1, 2, 2, 1};
  // The largest block is not there when most is in use: in operation 2.
  layout.arena = {Block(90, 0, 0, 1), Block(40, 1, 2, 2), Block(50, 2, 3, 1),
                  Block(30, 2, 2, 2), Block(10, 3, 1 << 30, 1)};
  const ArenaPeak peak = FindPeak(layout);
  EXPECT_EQ(peak.owner, "layer b");
  EXPECT_EQ(peak.owner_bytes, 70);
}

TEST(ProgramLayoutTest, PlacesBlocksInTheArena) {
  Memory first;
  Memory second;
  ProgramLayout layout;
  layout.arena = {{.memory = &first, .offset = 128}, {.memory = &second}};
  std::byte arena[256];
  layout.PlaceArena(arena);
  EXPECT_EQ(first.data, arena + 128);
  EXPECT_EQ(second.data, arena);
}

TEST(ProgramLayoutTest, SectionsFollowEachOther) {
  ProgramLayout layout;
  layout.sections = {{{}, 3}, {{}, 7}};
  EXPECT_EQ(layout.OperationsOf(0), std::pair(0, 3));
  EXPECT_EQ(layout.OperationsOf(1), std::pair(3, 7));
}

}  // namespace
}  // namespace paceline
