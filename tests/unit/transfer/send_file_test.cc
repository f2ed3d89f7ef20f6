// What becomes of a file by what the coordinator answers.
#include "common/transfer/send_file.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/transfer/pieces.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kPiece = kSentFilePieceBytes;

class SendFileTest : public testing::Test {
 protected:
  SendFileTest() {
    for (size_t i = 0; i < content_.size(); ++i) {
      content_[i] = static_cast<char>(i * i >> 9);
    }
    file_.set_sha256("hash");
    file_.set_size_bytes(content_.size());
  }

  // As a coordinator does.
  v1::PutFileResponse Take(const v1::PutFileRequest& request) {
    EXPECT_EQ(request.sha256(), "hash");
    EXPECT_EQ(request.size_bytes(), content_.size());
    received_.resize(request.offset());
    received_ += request.content();
    return Progress(received_.size());
  }
  v1::PutFileResponse Progress(uint64_t bytes) const {
    v1::PutFileResponse response;
    response.mutable_progress()->set_received_bytes(bytes);
    response.mutable_progress()->set_is_complete(bytes == content_.size());
    return response;
  }
  // `put` decides what is answered to the call with this number, from 0 on.
  absl::Status Send(uint64_t progress,
                    const std::function<absl::StatusOr<v1::PutFileResponse>(
                        size_t call, const v1::PutFileRequest&)>& put) {
    const std::unique_ptr<RandomAccess> content = RandomAccessTo(sent_);
    return SendFile("data.npz", *content, file_, Progress(progress).progress(),
                    [&](const v1::PutFileRequest& request) {
                      offsets_.push_back(request.offset());
                      return put(offsets_.size() - 1, request);
                    });
  }

  std::string content_ = std::string(2 * kPiece + 100, 0);
  std::string sent_ = content_;
  v1::JobFile file_;
  std::string received_;
  std::vector<uint64_t> offsets_;
};

TEST_F(SendFileTest, ItGoesInPieces) {
  EXPECT_EQ(Send(0, [this](size_t, const auto& piece) { return Take(piece); }),
            absl::OkStatus());
  EXPECT_THAT(offsets_, ElementsAre(0, kPiece, 2 * kPiece));
  EXPECT_EQ(received_, sent_);
}

TEST_F(SendFileTest, ItGoesOnWhereItWas) {
  received_ = sent_.substr(0, 7);
  EXPECT_EQ(Send(7, [this](size_t, const auto& piece) { return Take(piece); }),
            absl::OkStatus());
  EXPECT_THAT(offsets_, ElementsAre(7, kPiece + 7, 2 * kPiece + 7));
  EXPECT_EQ(received_, sent_);
}

TEST_F(SendFileTest, WhatIsCompleteIsNotSent) {
  EXPECT_EQ(Send(content_.size(),
                 [this](size_t, const auto& piece) { return Take(piece); }),
            absl::OkStatus());
  EXPECT_THAT(offsets_, ElementsAre());
}

TEST_F(SendFileTest, AWrongBeginningIsSentAgainOnce) {
  EXPECT_EQ(
      Send(kPiece,
           [this](size_t call,
                  const auto& piece) -> absl::StatusOr<v1::PutFileResponse> {
             if (call == 1) return absl::DataLossError("other hash");
             return Take(piece);
           }),
      absl::OkStatus());
  EXPECT_THAT(offsets_, ElementsAre(kPiece, 2 * kPiece, 0, kPiece, 2 * kPiece));
  EXPECT_EQ(received_, sent_);

  const absl::Status status = Send(0, [](size_t, const auto&) {
    return absl::StatusOr<v1::PutFileResponse>(
        absl::DataLossError("other hash"));
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(status.message(), HasSubstr("data.npz has changed"));
}

TEST_F(SendFileTest, AFileThatBecameShorterHasChanged) {
  sent_.pop_back();
  const absl::Status status =
      Send(0, [this](size_t, const auto& piece) { return Take(piece); });
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(offsets_, ElementsAre());
}

TEST_F(SendFileTest, APieceThatComesTooEarlyIsSentAgain) {
  EXPECT_EQ(Send(0,
                 [this](size_t call, const auto& piece) {
                   if (call >= 10) return Take(piece);
                   v1::PutFileResponse refusal = Progress(0);
                   refusal.set_pause_micros(1);
                   return refusal;
                 }),
            absl::OkStatus());
  EXPECT_EQ(offsets_.size(), 13);
}

TEST_F(SendFileTest, ACoordinatorThatTakesNothingIsAnError) {
  const absl::Status status =
      Send(0, [this](size_t, const auto&) { return Progress(0); });
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(status.message(),
              HasSubstr("does not take data.npz beyond byte 0"));
  EXPECT_LT(offsets_.size(), 10);
}

TEST_F(SendFileTest, OtherErrorsAreReturned) {
  EXPECT_EQ(Send(0,
                 [](size_t, const auto&) {
                   return absl::StatusOr<v1::PutFileResponse>(
                       absl::ResourceExhaustedError("full"));
                 }),
            absl::ResourceExhaustedError("full"));
}

}  // namespace
}  // namespace paceline
