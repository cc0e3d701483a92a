import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const folder = join(import.meta.dirname, '../packages/sdk')

const head = `# SDK reference

This page lists every function and type of the SDK. \`npm run generate\` makes this page from the comments in the code. The
[README of the SDK](../packages/sdk/README.md) shows how to use the SDK. Modules below
\`@skerry/sdk/internal\` can change in any release, so they are not listed.

These words appear in many descriptions. The [glossary](glossary.md) explains more words.

- **Wrap**: encrypt a key with the public key of a reader. **Unwrap**: decrypt it with the private key of the reader.
- **Grant**: the wrapped key of an environment for one person or token, stored on the server.
- **Principal**: a person, a service token or a machine client.
- **Bearer**: the part of a credential that the client sends to the server in the header \`Authorization\`.
- **Dek**: the key of an environment. The name stands for data encryption key.
- **Layer**: one of the environments whose secrets \`resolve\` merges: environments of groups, the environment itself, and
  its branch.
- **Known state**: what a client remembers of earlier responses, to notice a server that lies.
- **Signed directory**: a list of keys, names and readers that people of the organization sign. A **pin** is the hash of its root.

Under **Throws**, each line names a class of errors, its codes, and when the function throws them.`

/** The page with every export of every public module of the SDK: its declaration and its doc comment. */
export function sdkMarkdown(): string {
  const { exports: map } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    exports: Record<string, string>
  }
  const modules = Object.entries(map).filter(([path]) => !path.startsWith('./internal/'))
  const sections = modules.map(([path, file]) => moduleMarkdown(path.replace(/^\./, '@skerry/sdk'), file))
  return `${[head, ...sections].join('\n\n')}\n`
}

function moduleMarkdown(name: string, file: string): string {
  const text = readFileSync(join(folder, file), 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const parts = source.statements.filter(isExported).flatMap((statement) => declarationMarkdown(statement, source))
  return [`## \`${name}\``, ...parts].join('\n\n')
}

const isExported = (statement: ts.Statement): boolean =>
  ts.canHaveModifiers(statement) &&
  (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)

function declarationMarkdown(statement: ts.Statement, source: ts.SourceFile): string[] {
  const name = nameOf(statement)
  if (name === undefined) return []
  return [`### ${name}`, fence(signatureOf(statement, source)), ...commentMarkdown(statement)]
}

function nameOf(statement: ts.Statement): string | undefined {
  const declared = ts.isVariableStatement(statement)
    ? statement.declarationList.declarations[0]?.name
    : (statement as ts.DeclarationStatement).name
  return declared && ts.isIdentifier(declared) ? declared.text : undefined
}

const fence = (code: string) => `\`\`\`typescript\n${code.trim()}\n\`\`\``

/** The declaration without the body of a function and without the value of a constant. */
function signatureOf(statement: ts.Statement, source: ts.SourceFile): string {
  const text = source.text.slice(statement.getStart(source), statement.end)
  const offset = statement.getStart(source)
  if (ts.isFunctionDeclaration(statement) && statement.body)
    return source.text.slice(offset, statement.body.getStart(source))
  if (ts.isClassDeclaration(statement)) return classSignature(statement, source)
  if (!ts.isVariableStatement(statement)) return text
  const [declaration] = statement.declarationList.declarations
  const value = declaration?.initializer
  if (!value) return text
  // An arrow function says its types itself.
  if (ts.isArrowFunction(value)) return source.text.slice(offset, value.equalsGreaterThanToken.getStart(source))
  return declaration.type ? source.text.slice(offset, value.getStart(source)).replace(/\s*=\s*$/, '') : text
}

function classSignature(declaration: ts.ClassDeclaration, source: ts.SourceFile): string {
  const start = source.text.slice(declaration.getStart(source), declaration.members.pos)
  const isPublic = (member: ts.ClassElement) =>
    !ts.canHaveModifiers(member) ||
    !(ts.getModifiers(member) ?? []).some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword)
  const members = declaration.members.filter(isPublic).map((member) => {
    const body = ts.isMethodDeclaration(member) || ts.isConstructorDeclaration(member) ? member.body : undefined
    return `  ${source.text.slice(member.getStart(source), body?.getStart(source) ?? member.end).trim()}`
  })
  return `${start}\n${members.join('\n')}\n}`
}

/** The doc comment: its text, the errors that it names, and its example. */
function commentMarkdown(statement: ts.Statement): string[] {
  const comments = ts.getJSDocCommentsAndTags(statement).filter(ts.isJSDoc)
  return comments.flatMap((comment) => {
    const text = plain(ts.getTextOfJSDocComment(comment.comment))
    const tags = (comment.tags ?? []).flatMap((tag) => tagMarkdown(tag))
    return [...(text === '' ? [] : [text]), ...tags]
  })
}

function tagMarkdown(tag: ts.JSDocTag): string[] {
  const text = ts.getTextOfJSDocComment(tag.comment)?.trim() ?? ''
  if (ts.isJSDocParameterTag(tag)) return [`- \`${tag.name.getText()}\`: ${plain(text)}`]
  const name = tag.tagName.text
  if (name === 'example') return [fence(text)]
  if (name === 'throws') return [`**Throws**\n\n${errorsMarkdown(plain(text))}`]
  return text === '' ? [] : [`**${name === 'returns' ? 'Returns' : name}** ${plain(text)}`]
}

/** A list with a row for each class of errors. Classes are separated by semicolons outside of brackets. */
const errorsMarkdown = (text: string) =>
  text
    .replaceAll(/\s+/g, ' ')
    .split(/; (?![^(]*\))/)
    .map((row) => `- ${row.replace(/\.$/, '')}`)
    .join('\n')

/** `{@link x}` becomes code. */
const plain = (text = '') => text.replaceAll(/\{@link (\w+)\}/g, '`$1`').trim()
