// What workers send for TensorBoard: what a session takes of it, and what it
// refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/callback/tensor_board.h"
#include "common/session/machine/session.h"
#include "tests/unit/session/session_callbacks_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The first bytes of a PNG file, and some more.
std::string Png(uint8_t height, uint8_t width, size_t size = 40) {
  std::string png("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
  png += std::string({'\0', '\0', '\0', static_cast<char>(width)});
  png += std::string({'\0', '\0', '\0', static_cast<char>(height)});
  png.resize(size);
  return png;
}

class SessionReportsTest : public SessionCallbacksTest {
 protected:
  SessionReportsTest() {
    auto board = std::make_unique<TensorBoard>();
    board->profile_batch = {2, 5};
    board->first_images = 3;
    Use(std::move(board));
    options_.job.set_epochs(1);
  }

  v1::ReportTraceRequest TraceOf(TaskId task) {
    v1::ReportTraceRequest request;
    *request.mutable_member() = MemberOf(task);
    request.mutable_start()->set_seconds(1'700'000'000);
    request.mutable_start()->set_nanos(5);
    request.add_lanes("replica 0");
    request.add_names("step 2");
    v1::TraceSpan& span = *request.add_spans();
    span.set_begin_ns(10);
    span.set_duration_ns(20);
    return request;
  }
  v1::ReportImagesRequest ImagesOf(TaskId task) {
    v1::ReportImagesRequest request;
    *request.mutable_member() = MemberOf(task);
    request.add_images(Png(28, 30));
    request.add_images(Png(28, 30));
    return request;
  }

  // The outputs of callbacks of type T that the leader has to write.
  template <typename T>
  std::vector<T> Written() {
    std::vector<T> written;
    for (const Action& action : session_->TakeActions()) {
      const auto* const orders = std::get_if<ServeCallbacks>(&action);
      if (orders == nullptr) continue;
      for (const CallbackOutput& output : orders->outputs) {
        if (const auto* const write = std::get_if<T>(&output)) {
          written.push_back(*write);
        }
      }
    }
    return written;
  }

  // That the session refuses the trace of TraceOf once it was changed, and
  // writes nothing.
  void ExpectRefused(const std::function<void(v1::ReportTraceRequest&)>& change,
                     const std::string& why) {
    v1::ReportTraceRequest request = TraceOf(kWorker0);
    change(request);
    const absl::Status status = session_->ReportTrace(request);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << why;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("worker-0"), HasSubstr(why)));
    EXPECT_THAT(Written<WriteTrace>(), IsEmpty()) << why;
  }
  void ExpectImagesRefused(const std::vector<std::string>& images,
                           const std::string& why) {
    v1::ReportImagesRequest request;
    *request.mutable_member() = MemberOf(kWorker0);
    for (const std::string& image : images) request.add_images(image);
    const absl::Status status = session_->ReportImages(request);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << why;
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
    EXPECT_THAT(Written<WriteImages>(), IsEmpty()) << why;
  }
};

TEST_F(SessionReportsTest, WritesTheFirstTraceOfEachWorker) {
  Start();
  ASSERT_EQ(session_->ReportTrace(TraceOf(kWorker1)), absl::OkStatus());
  ASSERT_EQ(session_->ReportTrace(TraceOf(kWorker0)), absl::OkStatus());
  v1::ReportTraceRequest again = TraceOf(kWorker0);
  again.clear_spans();
  EXPECT_EQ(session_->ReportTrace(again), absl::OkStatus());
  const std::vector<WriteTrace> traces = Written<WriteTrace>();
  ASSERT_THAT(traces, SizeIs(2));
  EXPECT_EQ(traces[0].folder, "logs");
  EXPECT_EQ(traces[0].task, "worker-1");
  EXPECT_EQ(traces[1].task, "worker-0");
  const Trace& trace = *traces[1].trace;
  EXPECT_EQ(trace.start_ns, 1'700'000'000'000'000'005);
  EXPECT_THAT(trace.lanes, ElementsAre("replica 0"));
  EXPECT_THAT(trace.names, ElementsAre("step 2"));
  ASSERT_THAT(trace.spans, SizeIs(1));
  EXPECT_EQ(trace.spans[0].begin_ns, 10);
  EXPECT_EQ(trace.spans[0].duration_ns, 20);
}

TEST_F(SessionReportsTest, RefusesTracesThatCannotBe) {
  Start();
  const auto spans = [](v1::ReportTraceRequest& request) -> v1::TraceSpan& {
    return *request.mutable_spans(0);
  };
  ExpectRefused([&](auto& trace) { spans(trace).set_name(1); },
                "spans: name 1 in lane 0; expected indices below 1 and 1");
  ExpectRefused([&](auto& trace) { spans(trace).set_lane(1); }, "in lane 1");
  ExpectRefused([&](auto& trace) { spans(trace).set_begin_ns(~0ull); },
                "spans.begin_ns: 18446744073709551615; expected");
  ExpectRefused([&](auto& trace) { spans(trace).set_duration_ns(~0ull); },
                "spans.duration_ns: 18446744073709551615; expected");
  // Each is possible, but not both together.
  ExpectRefused(
      [&](auto& trace) {
        spans(trace).set_begin_ns(kMaxTraceNanoseconds);
        spans(trace).set_duration_ns(1);
      },
      "spans.duration_ns: 1; expected a whole number from 0 to 0");
  for (const int64_t seconds : {int64_t{-1}, int64_t{1} << 62}) {
    ExpectRefused(
        [&](auto& trace) { trace.mutable_start()->set_seconds(seconds); },
        absl::StrCat("start: ", seconds, " s and 5 ns; expected"));
  }
  ExpectRefused([](auto& trace) { trace.mutable_start()->set_nanos(-1); },
                "and -1 ns; expected");
  ExpectRefused(
      [](auto& trace) { trace.mutable_start()->set_nanos(1'000'000'000); },
      "and 1000000000 ns; expected");
  for (const std::string text :
       {"", "a\nb", "\x1b[2J", "\xff", "\u202e", "\u0085"}) {
    ExpectRefused([&](auto& trace) { *trace.mutable_names(0) = text; },
                  "names: \"");
    ExpectRefused([&](auto& trace) { *trace.mutable_lanes(0) = text; },
                  "lanes: \"");
  }
  ExpectRefused([](auto& trace) { trace.set_names(0, std::string(201, 'x')); },
                "expected UTF-8 of 1 to 200 bytes without control characters");
  ExpectRefused(
      [](auto& trace) {
        while (trace.lanes_size() <= 64) trace.add_lanes("more");
      },
      "lanes: 65; expected at most 64");
  ExpectRefused(
      [](auto& trace) {
        while (trace.names_size() <= 4096) trace.add_names("more");
      },
      "names: 4097; expected at most 4096");
  ExpectRefused(
      [](auto& trace) {
        while (trace.spans_size() <= 100'000) trace.add_spans();
      },
      "spans: 100001; expected at most 100000");
  // What was refused does not count.
  v1::ReportTraceRequest most = TraceOf(kWorker0);
  most.set_names(0, std::string(200, 'x'));
  most.set_dropped_spans(~0ull);
  while (most.spans_size() < 100'000) *most.add_spans() = most.spans(0);
  EXPECT_EQ(session_->ReportTrace(most), absl::OkStatus());
  EXPECT_THAT(Written<WriteTrace>(), SizeIs(1));
}

TEST_F(SessionReportsTest, WritesTheFirstImages) {
  Start();
  ASSERT_EQ(session_->ReportImages(ImagesOf(kWorker1)), absl::OkStatus());
  EXPECT_EQ(session_->ReportImages(ImagesOf(kWorker0)), absl::OkStatus());
  const std::vector<WriteImages> written = Written<WriteImages>();
  ASSERT_THAT(written, SizeIs(1));
  EXPECT_EQ(written[0].folder, "logs/train");
  EXPECT_EQ(written[0].tag, "first_batch");
  EXPECT_EQ(written[0].step, 0);
  EXPECT_EQ(written[0].images.size, (ImageSize{28, 30}));
  EXPECT_THAT(written[0].images.images, SizeIs(2));
}

TEST_F(SessionReportsTest, RefusesImagesThatCannotBe) {
  Start();
  ExpectImagesRefused({}, "images: 0 of 0 bytes together; expected some");
  const std::string good = Png(2, 3);
  ExpectImagesRefused({good, good, good, good},
                      "images: 4; expected at most 3");
  ExpectImagesRefused({good, Png(3, 2)}, "one of 3 x 2 pixels beside one of");
  ExpectImagesRefused({Png(2, 3, (4 << 20) + 1)}, "of 4194305 bytes together");
  ExpectImagesRefused({good.substr(0, 23)}, "23 bytes, \"\\x89PNG");
  ExpectImagesRefused({Png(0, 3)}, "expected a PNG file of at most");
  ExpectImagesRefused({Png(2, 0)}, "expected a PNG file of at most");
  std::string large = good;
  large[16] = '\x7f';
  ExpectImagesRefused({large}, "expected a PNG file of at most");
  std::string other = good;
  other[12] = 'J';
  ExpectImagesRefused({other}, "expected a PNG file of at most");
  other = good;
  other[0] = 'P';
  ExpectImagesRefused({other}, "expected a PNG file of at most");
  EXPECT_EQ(session_->ReportImages(ImagesOf(kWorker0)), absl::OkStatus());
  EXPECT_THAT(Written<WriteImages>(), SizeIs(1));
}

TEST_F(SessionReportsTest, RefusesThoseWhoWereNotAsked) {
  Start();
  EXPECT_THAT(std::string(session_->ReportTrace(TraceOf(kPs0)).message()),
              HasSubstr("ps-0 at host-p:1 was asked for no trace"));
  EXPECT_THAT(std::string(session_->ReportImages(ImagesOf(kPs0)).message()),
              HasSubstr("ps-0 at host-p:1 was asked for no images"));
  v1::ReportTraceRequest trace = TraceOf(kWorker0);
  trace.mutable_member()->set_incarnation(12345);
  EXPECT_EQ(session_->ReportTrace(trace).code(),
            absl::StatusCode::kFailedPrecondition);
  v1::ReportImagesRequest images = ImagesOf(kWorker0);
  images.mutable_member()->set_incarnation(12345);
  EXPECT_EQ(session_->ReportImages(images).code(),
            absl::StatusCode::kFailedPrecondition);
  for (const bool has_board : {false, true}) {
    options_.callbacks = nullptr;
    if (has_board) Use(std::make_unique<TensorBoard>());
    incarnations_.clear();
    requests_.clear();
    Start();
    EXPECT_THAT(std::string(session_->ReportTrace(TraceOf(kWorker0)).message()),
                HasSubstr("worker-0 at host-a:1 was asked for no trace"));
    EXPECT_THAT(
        std::string(session_->ReportImages(ImagesOf(kWorker0)).message()),
        HasSubstr("worker-0 at host-a:1 was asked for no images"));
  }
}

// Else it could be stopped between its last step and its report.
TEST_F(SessionReportsTest, AWorkerWithATraceLearnsOfTheEndByItsLease) {
  Start();
  WorkUntilIdle(kWorker0);
  ASSERT_TRUE(session_->ended());
  EXPECT_FALSE(Beat(kWorker0)->stop());
  EXPECT_TRUE(Beat(kPs0)->stop());
  EXPECT_TRUE(Beat(kWorker1)->stop()) << "it had no lease";
  const auto answer = TryAcquire(kWorker0, requests_[kWorker0] + 1);
  ASSERT_TRUE(answer.ok() && answer->has_value());
  EXPECT_EQ((*answer)->verdict(), v1::AcquireLeaseResponse::VERDICT_DONE);
  EXPECT_EQ(session_->ReportTrace(TraceOf(kWorker0)), absl::OkStatus());
  EXPECT_THAT(Written<WriteTrace>(), SizeIs(1));
  EXPECT_TRUE(Beat(kWorker0)->stop());
}

TEST_F(SessionReportsTest, AWorkerOfAFailedJobIsStoppedAtOnce) {
  Start();
  session_->Stop(absl::CancelledError("stopped"), now_);
  EXPECT_TRUE(Beat(kWorker0)->stop());
}

}  // namespace
}  // namespace paceline
