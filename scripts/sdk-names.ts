import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'

const packages = join(import.meta.dirname, '../packages')

/** A statement that declares a name, and its file. */
export interface Declaration {
  name: string
  statement: ts.Statement
  source: ts.SourceFile
}

const sources = new Map<string, ts.SourceFile>()

/** Parses a file once, because statements of the same file are compared. */
export function sourceOf(path: string): ts.SourceFile {
  const known = sources.get(path)
  if (known) return known
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
  sources.set(path, source)
  return source
}

/** Lists the exports of a file in their order: its own declarations, and those that it exports from other files. */
export function exportsOf(source: ts.SourceFile): Declaration[] {
  return source.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement))
      return namesIn(statement.exportClause).flatMap(({ name }) => findDeclaration(name.text, source) ?? [])
    const name = nameOf(statement)
    return name !== undefined && isExported(statement) ? [{ name, statement, source }] : []
  })
}

/** Lists the types of this repository that the signature of a declaration names. */
export function typesNamedIn({ statement, source }: Declaration): Declaration[] {
  const names = new Set<string>()
  const visit = (node: ts.Node): void => {
    if (ts.isBlock(node) || isPrivate(node)) return
    if (ts.isTypeReferenceNode(node) && ts.isIdentifier(node.typeName)) names.add(node.typeName.text)
    if (ts.isExpressionWithTypeArguments(node) && ts.isIdentifier(node.expression)) names.add(node.expression.text)
    for (const part of signatureOf(node)) visit(part)
  }
  visit(statement)
  return [...names].flatMap((name) => findDeclaration(name, source) ?? [])
}

/** The children of a node, without the value of a variable whose type is written, and without the body of an arrow function. */
function signatureOf(node: ts.Node): readonly ts.Node[] {
  if (ts.isVariableDeclaration(node) && node.type) return [node.type]
  if (ts.isArrowFunction(node)) return [...node.parameters, ...(node.type ? [node.type] : [])]
  const children: ts.Node[] = []
  ts.forEachChild(node, (child) => void children.push(child))
  return children
}

/** Finds the declaration of a name in the file, or in the file from which it comes. Undefined if that is not of this repository. */
function findDeclaration(name: string, source: ts.SourceFile): Declaration | undefined {
  const statement = source.statements.find((one) => nameOf(one) === name)
  if (statement) return { name, statement, source }
  for (const one of source.statements) {
    const found = namesFrom(one).find((named) => named.name.text === name)
    const file = found && fileOf(one as ts.ImportDeclaration | ts.ExportDeclaration, source)
    if (file !== undefined) return findDeclaration((found?.propertyName ?? found?.name)!.text, sourceOf(file))
  }
  return undefined
}

type Named = ts.ImportSpecifier | ts.ExportSpecifier

/** The names that a statement imports, or exports from another file. */
function namesFrom(statement: ts.Statement): readonly Named[] {
  if (ts.isImportDeclaration(statement)) return namesIn(statement.importClause?.namedBindings)
  return ts.isExportDeclaration(statement) && statement.moduleSpecifier ? namesIn(statement.exportClause) : []
}

const namesIn = (clause: ts.NamedImportBindings | ts.NamedExportBindings | undefined): readonly Named[] =>
  clause && (ts.isNamedImports(clause) || ts.isNamedExports(clause)) ? [...clause.elements] : []

/** The file of this repository that a statement imports. */
function fileOf({ moduleSpecifier }: ts.ImportDeclaration | ts.ExportDeclaration, source: ts.SourceFile) {
  const path = (moduleSpecifier as ts.StringLiteral).text
  if (path.startsWith('.')) return join(dirname(source.fileName), path)
  const [, folder, module] = /^@skerry\/(\w+)\/(.+)$/.exec(path) ?? []
  return folder === undefined ? undefined : join(packages, folder, 'src', `${module}.ts`)
}

export const isPrivate = (node: ts.Node): boolean => hasModifier(node, ts.SyntaxKind.PrivateKeyword)

const isExported = (statement: ts.Statement): boolean => hasModifier(statement, ts.SyntaxKind.ExportKeyword)

const hasModifier = (node: ts.Node, wanted: ts.SyntaxKind): boolean =>
  ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === wanted)

function nameOf(statement: ts.Statement): string | undefined {
  const declared = ts.isVariableStatement(statement)
    ? statement.declarationList.declarations[0]?.name
    : (statement as ts.DeclarationStatement).name
  return declared && ts.isIdentifier(declared) ? declared.text : undefined
}
