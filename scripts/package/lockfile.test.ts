import { expect, test } from 'vitest'
import { closureOf, type Lockfile } from './lockfile.ts'
import { shrinkwrapOf } from './shrinkwrap.ts'

const lockfile: Lockfile = {
  'packages/cli': { dependencies: { parser: '2.0.0', '@a/tool': '1.0.0' } },
  'packages/cli/node_modules/parser': { version: '2.0.0', license: 'MIT' },
  'node_modules/@a/tool': {
    version: '1.0.0',
    dependencies: { parser: '^1.0.0' },
    optionalDependencies: { native: '1' },
  },
  'node_modules/@a/tool/node_modules/parser': { version: '1.5.0' },
  'node_modules/parser': { version: '1.0.0' },
  'node_modules/other': { version: '1.0.0', dependencies: { parser: '^1.0.0' } },
}
const manifest = { name: '@skerry/cli', version: '1.0.0' }

test('a package gets the version of each dependency that the lockfile has for it', () => {
  expect(closureOf(lockfile, ['packages/cli/node_modules/parser', 'node_modules/@a/tool'])).toEqual([
    'node_modules/@a/tool',
    'node_modules/@a/tool/node_modules/parser',
    'packages/cli/node_modules/parser',
  ])
})

test('npm-shrinkwrap.json has dependencies of a workspace in the folder of the package', () => {
  const { packages } = shrinkwrapOf(lockfile, manifest, ['packages/cli/node_modules/parser']) as { packages: object }
  expect(packages).toEqual({ '': manifest, 'node_modules/parser': { version: '2.0.0', license: 'MIT' } })
})

test('two versions of a package that would be in one folder are refused', () => {
  const direct = ['packages/cli/node_modules/parser', 'node_modules/other']
  expect(() => shrinkwrapOf(lockfile, manifest, direct)).toThrow(
    'parser: the package needs two versions in one place, of node_modules/parser and of packages/cli/node_modules/parser',
  )
})

test('a dependency that the lockfile does not have is refused by name, unless it is optional', () => {
  expect(closureOf({ a: { optionalDependencies: { gone: '1' } } }, ['a'])).toEqual(['a'])
  expect(() => closureOf({ a: { dependencies: { gone: '1' } } }, ['a'])).toThrow('a: package-lock.json has no gone')
})
