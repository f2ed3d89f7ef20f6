// Two libraries, of which the second needs the first.
extern "C" {

void PacelineAbsent();

#ifdef PACELINE_ABSENT
void PacelineAbsent() {}
#else
void PacelineUseAbsent();
void PacelineUseAbsent() { PacelineAbsent(); }
#endif

}  // extern "C"
