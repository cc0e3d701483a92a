import ts from 'typescript'

/** Names at the top level of a module. */
interface Names {
  /** All of them, imported ones too. */
  all: Set<string>
  /** Names of values that it declares. */
  declared: Set<string>
  /** Names that it exports. */
  exported: Set<string>
}

/**
 * Returns the names at the top level of a module.
 *
 * @example namesIn('export const { a, b: [c] } = f()').exported // Set { 'a', 'c' }
 */
export function namesIn(text: string): Names {
  const names: Names = { all: new Set(), declared: new Set(), exported: new Set() }
  for (const statement of ts.createSourceFile('module.ts', text, ts.ScriptTarget.Latest).statements) {
    if (ts.isImportDeclaration(statement)) for (const name of imported(statement)) names.all.add(name)
    else if (ts.isExportDeclaration(statement)) for (const name of reexported(statement)) names.exported.add(name)
    else
      for (const name of declaredBy(statement)) {
        names.all.add(name)
        if (!ts.isTypeAliasDeclaration(statement) && !ts.isInterfaceDeclaration(statement)) names.declared.add(name)
        if (isExported(statement)) names.exported.add(name)
      }
  }
  return names
}

const isExported = (statement: ts.Statement): boolean =>
  ts.canHaveModifiers(statement) &&
  (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)

function imported({ importClause }: ts.ImportDeclaration): string[] {
  if (!importClause) return []
  const { name, namedBindings: bindings } = importClause
  const named = bindings && ts.isNamedImports(bindings) ? bindings.elements : bindings ? [bindings] : []
  return [...(name ? [name.text] : []), ...named.map((one) => one.name.text)]
}

function reexported({ exportClause }: ts.ExportDeclaration): string[] {
  return exportClause && ts.isNamedExports(exportClause) ? exportClause.elements.map(({ name }) => name.text) : []
}

function declaredBy(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) => boundBy(name))
  const { name } = statement as ts.DeclarationStatement
  return name && ts.isIdentifier(name) ? [name.text] : []
}

function boundBy(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text]
  return name.elements.flatMap((element) => (ts.isBindingElement(element) ? boundBy(element.name) : []))
}

export const importOf = (names: readonly string[], from: string): string =>
  `import { ${names.join(', ')} } from '${from}';`

/** Exports what a module declares and does not export itself. */
export const exportOf = ({ declared, exported }: Names): string =>
  `export { ${[...declared].filter((name) => !exported.has(name)).join(', ')} }`
