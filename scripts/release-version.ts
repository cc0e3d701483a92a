import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Files, nextVersion } from './package/next-version.ts'

// Gives all packages the version of a release, and names it in the changelog and in the files that install it.
//
//   node scripts/release-version.ts 0.2.0
//
// npm and the generator then write the version into their own files: docs/releases.md has all steps.

const root = fileURLToPath(new URL('..', import.meta.url))
const paths = globSync(
  [
    ...['{packages,examples}/*/package.json', 'bench/package.json'],
    ...['CHANGELOG.md', 'deploy/kubernetes/kustomization.yaml'],
  ],
  { cwd: root, exclude: ['**/node_modules/**'] },
)
const before: Files = Object.fromEntries(paths.map((path) => [path, readFileSync(`${root}/${path}`, 'utf8')]))
try {
  const after = nextVersion(before, process.argv[2] ?? '', new Date())
  for (const [path, text] of Object.entries(after)) if (text !== before[path]) writeFileSync(`${root}/${path}`, text)
  console.log('Now run: npm install --package-lock-only && npm run generate')
} catch (error) {
  console.error(`release-version: ${(error as Error).message}`)
  process.exitCode = 2
}
