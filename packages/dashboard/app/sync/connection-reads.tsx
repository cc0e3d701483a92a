import { type ReaderKey, ReaderQuestion } from '../envs/reader-key.tsx'

/** Says what a binding lets the server read, and asks whether the person wants that. */
export const ConnectionReads = ({ reader }: { reader: ReaderKey }) => (
  <ReaderQuestion reader={reader}>
    To push, it needs the keys of the environment and of the groups in it. With these keys it can also read names that
    are not pushed. It keeps the keys until you remove the last binding that needs them, or revoke them on the page of
    the environment.
  </ReaderQuestion>
)
