# Shortens `ctest --verbose`: output of a test ("7: text") is held back until its result line
# arrives, then printed in full if it failed, and reduced to its closing lines if it passed.

/^[0-9]+: / {
  number = substr($0, 1, index($0, ":") - 1)
  text = substr($0, index($0, ":") + 2)
  said[number] = said[number] "        " text "\n"
  if (text ~ /^\[  PASSED  \]|^\[  SKIPPED \]|YOU HAVE .* DISABLED/) {
    closing[number] = closing[number] "        " text "\n"
  }
  next
}

/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
  number = $0
  sub(/^[^#]*#/, "", number)
  sub(/:.*/, "", number)
  print
  printf "%s", ($0 ~ / Passed /) ? closing[number] : said[number]
  fflush()
  next
}

/^test [0-9]+$|^ *Start +[0-9]+: |^UpdateCTestConfiguration|^Internal ctest|^$/ { next }
/^Parse Config file|^ *Add coverage|^SetCTestConfiguration|^Constructing/ { next }
/^Updating|^Checking/ { next }
/^Added 0 tests|^Done constructing|^Label Time Summary|^[a-z_]+ += +[0-9.]+ sec\*proc/ { next }

/^The following tests passed:/ { listing_passed = 1; next }
listing_passed && /^\t/ { next }

{ listing_passed = 0; print; fflush() }
