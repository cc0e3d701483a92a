import { expect, test } from 'vitest'
import { runBuild } from './pages/build.ts'

test.each(['process.kill(process.pid, "SIGKILL")', 'process.exit(137)'])(
  'a build that the system killed throws an error that names the memory that a build needs: %s',
  (code) => expect(() => runBuild(['-e', code])).toThrow('memory was short. A build needs 1 GB of free memory.'),
)

test('a build that fails in another way throws its exit code, and a successful build throws nothing', () => {
  expect(() => runBuild(['-e', 'process.exit(1)'])).toThrow('vite ended with exit code 1')
  expect(() => runBuild(['-e', '0'])).not.toThrow()
})

test('a build is for production, also if a test starts it', () => {
  expect(process.env.NODE_ENV).toBe('test')
  expect(() => runBuild(['-e', "process.exit(process.env.NODE_ENV === 'production' ? 0 : 1)"])).not.toThrow()
})
