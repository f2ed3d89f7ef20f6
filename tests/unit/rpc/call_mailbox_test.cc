// What a side reads that the other one may have spoilt.
#include "common/rpc/call_mailbox.h"

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

constexpr uint64_t kToken = 77;
constexpr size_t kValuesSize = 1024;
// Of the layout, where this test spoils it.
constexpr size_t kRequest = 4096;
constexpr size_t kMessageBytes = 128 << 10;
constexpr size_t kBlock = kRequest + 16 + 8;

class CallMailboxTest : public ::testing::Test {
 protected:
  CallMailboxTest() {
    auto made = CallMailbox::Create(kValuesSize, kToken);
    EXPECT_TRUE(made.ok()) << made.status();
    caller_ = std::make_unique<CallMailbox>(*std::move(made));
    auto opened = CallMailbox::Open(*caller_->reference(), kToken);
    EXPECT_TRUE(opened.ok()) << opened.status();
    callee_ = std::make_unique<CallMailbox>(*std::move(opened));
    auto raw = SharedRegion::Open(*caller_->reference());
    EXPECT_TRUE(raw.ok()) << raw.status();
    raw_ = std::make_unique<SharedRegion>(*std::move(raw));
  }

  // A request of 8 bytes and one block.
  void Write() {
    const DenseValues block = {3, v1::DATA_TYPE_FLOAT32, 9,
                               caller_->values().subspan(64, 128), 5};
    ASSERT_TRUE(
        caller_->Write(CallMailbox::kRequest, 2, "12345678", {&block, 1}));
  }

  template <typename T>
  void Spoil(size_t at, T value) {
    std::memcpy(raw_->memory().data() + at, &value, sizeof(value));
  }

  std::unique_ptr<CallMailbox> caller_;
  std::unique_ptr<CallMailbox> callee_;
  std::unique_ptr<SharedRegion> raw_;
};

TEST_F(CallMailboxTest, CarriesMessagesBothWays) {
  EXPECT_EQ(callee_->posted(CallMailbox::kRequest), 0u);
  Write();
  std::memset(caller_->values().data() + 64, 7, 128);
  caller_->Post(CallMailbox::kRequest, 1);
  EXPECT_EQ(callee_->posted(CallMailbox::kRequest), 1u);
  MailboxMessage message;
  ASSERT_TRUE(callee_->Read(CallMailbox::kRequest, message).ok());
  EXPECT_EQ(message.code, 2u);
  EXPECT_EQ(message.content, "12345678");
  ASSERT_EQ(message.blocks.size(), 1u);
  const DenseValues& block = message.blocks[0];
  EXPECT_EQ(block.index, 3u);
  EXPECT_EQ(block.dtype, v1::DATA_TYPE_FLOAT32);
  EXPECT_EQ(block.version, 9u);
  EXPECT_EQ(block.offset, 5u);
  EXPECT_EQ(block.values.data(), callee_->values().data() + 64);
  EXPECT_THAT(block.values, testing::Each(std::byte{7}));
  ASSERT_TRUE(callee_->Write(CallMailbox::kAnswer, 0, "", {}));
  callee_->Post(CallMailbox::kAnswer, 1);
  EXPECT_EQ(caller_->posted(CallMailbox::kAnswer), 1u);
  ASSERT_TRUE(caller_->Read(CallMailbox::kAnswer, message).ok());
  EXPECT_TRUE(message.blocks.empty());
}

TEST_F(CallMailboxTest, WhatIsTooLargeIsNotWritten) {
  EXPECT_FALSE(caller_->Write(CallMailbox::kRequest, 1,
                              std::string(kMessageBytes, 'x'), {}));
  const std::vector<DenseValues> blocks(
      kMessageBytes / 40 + 1,
      {0, v1::DATA_TYPE_FLOAT32, 0, caller_->values().subspan(0, 4)});
  EXPECT_FALSE(caller_->Write(CallMailbox::kRequest, 1, "", blocks));
  EXPECT_TRUE(caller_->Write(CallMailbox::kRequest, 1, "",
                             absl::MakeSpan(blocks).subspan(1)));
}

TEST_F(CallMailboxTest, RefusesWhatLeadsOutOfTheMemory) {
  const std::vector<std::function<void()>> cases = {
      [&] { Spoil(kRequest + 4, uint32_t{kMessageBytes}); },
      [&] { Spoil(kRequest + 4, UINT32_MAX); },
      [&] { Spoil(kRequest + 8, uint64_t{kMessageBytes / 40 + 1}); },
      [&] { Spoil(kRequest + 8, UINT64_MAX); },
      // Its type, where it begins, and its size.
      [&] { Spoil(kBlock + 4, uint32_t{99}); },
      [&] { Spoil(kBlock + 24, uint64_t{kValuesSize}); },
      [&] { Spoil(kBlock + 24, UINT64_MAX - 63); },
      [&] { Spoil(kBlock + 24, uint64_t{4}); },
      [&] { Spoil(kBlock + 32, uint64_t{kValuesSize}); },
      [&] { Spoil(kBlock + 32, UINT64_MAX); },
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    Write();
    cases[i]();
    MailboxMessage message;
    EXPECT_EQ(callee_->Read(CallMailbox::kRequest, message).code(),
              absl::StatusCode::kInvalidArgument)
        << i;
  }
}

// What is read stays as it was checked, whatever the peer writes meanwhile.
TEST_F(CallMailboxTest, WhatAPeerChangesWhileItIsReadIsCheckedAsItIsUsed) {
  const std::vector<std::pair<size_t, uint64_t>> spoilt = {
      {kRequest, uint64_t{2} | uint64_t{kMessageBytes} << 32},
      {kRequest + 8, UINT64_MAX},
      {kBlock, uint64_t{3} | uint64_t{99} << 32},
      {kBlock + 24, UINT64_MAX - 63},
      {kBlock + 32, UINT64_MAX},
  };
  Write();
  std::atomic<bool> is_done = false;
  std::thread peer([&] {
    for (size_t i = 0; !is_done; ++i) {
      const auto& [at, value] = spoilt[i % spoilt.size()];
      auto& word =
          *reinterpret_cast<std::atomic<uint64_t>*>(raw_->memory().data() + at);
      word = word.exchange(value);
    }
  });
  const absl::Span<std::byte> values = callee_->values();
  MailboxMessage message;
  int read = 0;
  const absl::Time end = MonotonicNow() + absl::Milliseconds(500);
  while (MonotonicNow() < end) {
    if (!callee_->Read(CallMailbox::kRequest, message).ok()) continue;
    ++read;
    ASSERT_LE(message.content.size(), kMessageBytes);
    for (const DenseValues& block : message.blocks) {
      ASSERT_TRUE(v1::DataType_IsValid(block.dtype));
      ASSERT_GE(block.values.data(), values.data());
      ASSERT_LE(block.values.data() - values.data() + block.values.size(),
                values.size());
    }
  }
  is_done = true;
  peer.join();
  EXPECT_GT(read, 0);
}

TEST_F(CallMailboxTest, MemoryThatIsNoMailboxIsRefused) {
  EXPECT_EQ(
      CallMailbox::Open(*caller_->reference(), kToken + 1).status().code(),
      absl::StatusCode::kInvalidArgument);
  Spoil(0, uint64_t{1});
  EXPECT_EQ(CallMailbox::Open(*caller_->reference(), kToken).status().code(),
            absl::StatusCode::kInvalidArgument);
  const auto small = SharedRegion::Create(100);
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(CallMailbox::Open(*small->reference(), 0).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(CallMailboxTest, TooLittleMemoryIsAnError) {
  EXPECT_EQ(CallMailbox::Create(size_t{1} << 50, kToken).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace paceline
