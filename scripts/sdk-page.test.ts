import ts from 'typescript'
import { expect, test } from 'vitest'
import { sdkMarkdown } from './sdk-page.ts'

const page = sdkMarkdown()
const headings = new Set([...page.matchAll(/^### (\w+)$/gm)].map(([, name]) => name!))

/** Types of TypeScript, and of TypeBox, which the page does not explain. */
const known = new Set([
  ...[
    'AsyncGenerator',
    'Awaited',
    'Exclude',
    'Extract',
    'Omit',
    'Partial',
    'Pick',
    'Promise',
    'Readonly',
    'ReadonlyMap',
  ],
  ...['ReadonlySet', 'Record', 'RequestInit', 'ReturnType', 'const', 'Static', 'TObject', 'TProperties', 'TSchema'],
])

/** Collects the types that a declaration names, without its own type parameters. */
function typesIn(code: string): string[] {
  const [names, own] = [new Set<string>(), new Set<string>()]
  const visit = (node: ts.Node): void => {
    if (ts.isTypeParameterDeclaration(node)) own.add(node.name.text)
    if (ts.isTypeReferenceNode(node) && ts.isIdentifier(node.typeName)) names.add(node.typeName.text)
    ts.forEachChild(node, visit)
  }
  // The page leaves out the body of an arrow function.
  const whole = /^export const \w+ = (async )?[<(]/.test(code) ? `${code} => {}` : code
  visit(ts.createSourceFile('declaration.ts', whole, ts.ScriptTarget.Latest, true))
  return [...names].filter((name) => !own.has(name))
}

test('the page lists every type that its declarations name', () => {
  const declarations = [
    ...page.matchAll(/^### \w+\n\n(?:`\w+` uses this type.*\n\n)?```typescript\n([\s\S]*?)\n```/gm),
  ].map(([, code]) => code!)
  expect(declarations).toHaveLength([...page.matchAll(/^### /gm)].length)
  const named = new Set(declarations.flatMap(typesIn))
  expect(named).toContain('WriterDirectory')
  const isExplained = (name: string) => headings.has(name) || known.has(name) || name in globalThis
  expect([...named].filter((name) => !isExplained(name))).toEqual([])
})

test('the page lists functions and types that a module exports from another file', () => {
  expect([...headings]).toEqual(expect.arrayContaining(['listMissingGrants', 'MadeLease', 'LiveChange']))
})

test('the page says which types no module exports, and what uses them', () => {
  expect(page).toMatch(
    /^### WriterDirectory\n\n`NewBranch` uses this type. No module of the SDK exports this type, so you cannot import it\.$/m,
  )
  expect(page).toMatch(/^### MadeLease\n\n```/m)
})
