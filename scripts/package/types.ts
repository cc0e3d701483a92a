import { dirname, join, relative } from 'node:path'
import ts from 'typescript'
import { packageOf } from './bundle.ts'

const options: ts.CompilerOptions = {
  noEmit: false,
  declaration: true,
  emitDeclarationOnly: true,
  allowJs: false,
  checkJs: false,
  // Found by their links in node_modules, the compiler would take them for libraries, and write nothing.
  paths: { '@skerry/contract/*': ['./packages/contract/src/*.ts'], '@skerry/crypto/*': ['./packages/crypto/src/*.ts'] },
}

/**
 * The types of these modules and of all modules that they import -> path of the file from the root, and its text.
 *
 * @param modules paths from the root
 */
export function declarationsOf(root: string, modules: readonly string[]): Record<string, string> {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const parsed = ts.parseJsonConfigFileContent({ ...config, files: modules, include: [] }, ts.sys, root, options)
  const program = ts.createProgram(parsed.fileNames, { ...parsed.options, outDir: root, rootDir: root })
  const files: Record<string, string> = {}
  program.emit(undefined, (path, text) => {
    files[relative(root, path)] = text
  })
  const reached = reachedFrom(
    modules.map((path) => path.replace(/\.ts$/, '.d.ts')),
    files,
    root,
  )
  return Object.fromEntries([...reached].sort().map((path) => [path, withPaths(root, path, files[path] ?? '')]))
}

const specifiers = /(\bfrom |\bimport\(|\bimport )(['"])([^'"]+)\2/g

/** Files that no type of these modules needs are left out: an import of a value is not in a declaration. */
function reachedFrom(paths: readonly string[], files: Record<string, string>, root: string): Set<string> {
  const found = new Set<string>()
  const visit = (path: string) => {
    if (found.has(path)) return
    const text = files[path]
    if (text === undefined) throw new Error(`${path}: the compiler wrote no such file`)
    found.add(path)
    for (const [, , , specifier = ''] of text.matchAll(specifiers)) {
      const target = targetOf(root, path, specifier)
      if (target) visit(target)
    }
  }
  paths.forEach(visit)
  return found
}

/** The declaration file, as a path from the root, that an import names; null for packages of npm. */
function targetOf(root: string, from: string, specifier: string): string | null {
  const own = /^@skerry\/([^/]+)\/(.+)$/.exec(specifier)
  if (own) return `packages/${own[1]}/src/${own[2]}.d.ts`
  if (packageOf(specifier) !== null || specifier.startsWith('node:')) return null
  return relative(root, join(root, dirname(from), specifier)).replace(/\.ts$/, '.d.ts')
}

/** Names the files of the package in imports, because there is no workspace where it is installed. */
const withPaths = (root: string, path: string, text: string) =>
  text.replace(specifiers, (all, word: string, quote: string, specifier: string) => {
    const target = targetOf(root, path, specifier)
    if (target === null) return all
    const to = relative(dirname(path), target).replace(/\.d\.ts$/, '.js')
    return `${word}${quote}${to.startsWith('.') ? to : `./${to}`}${quote}`
  })

/** The packages of npm that declarations name. */
export function packagesIn(declarations: Record<string, string>): string[] {
  const names = Object.values(declarations).flatMap((text) =>
    [...text.matchAll(specifiers)].map(([, , , specifier = '']) => packageOf(specifier)),
  )
  return [...new Set(names.filter((name) => name !== null))].sort()
}
