import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { type Declaration, exportsOf, isPrivate, sourceOf, typesNamedIn } from './sdk-names.ts'

const folder = join(import.meta.dirname, '../packages/sdk')

const head = `# SDK reference

This page lists every function and type of the SDK, and every type that they use. The
[README of the SDK](../packages/sdk/README.md) shows how to use the SDK. \`npm run generate\` makes this page from the
comments in the code. Modules whose path begins with \`@skerry/sdk/internal\` are not on this page, because they can
change in any release.

These words appear in many descriptions. The [glossary](glossary.md) explains more words.

- **Caller**: the person, service token or machine client whose credential the client sends.
- **Principal**: a person, a service token or a machine client.
- **Bearer**: the text of a credential that the client sends to the server in the header \`Authorization\`.
- **Wrap**: encrypt a key with the public key of a reader. **Unwrap**: decrypt the wrapped key with the private key of
  the reader.
- **Grant**: the wrapped key of an environment for one person or token, stored on the server.
- **Re-key**: replace the key of an environment.
- **Dek**: the key of an environment. The name stands for data encryption key.
- **Protected environment**: an environment in which a change waits until admins approve it. Until then, the change is a
  **change request**.
- **Layer**: one of the environments whose secrets the function \`resolve\` merges. The layers are environments of
  groups, the requested environment, and its branch.
- **Known state**: facts from earlier responses, which a client remembers. With these facts, the client notices a server
  that lies.
- **Signed directory**: a list of the environments, keys, names and readers of an organization. People of the
  organization sign the list, so the server cannot change it.
- **Root**: the signed document of the directory that names the people who may sign. **Pin**: the hash of a root. A
  client that has a pin refuses a directory that neither these people nor their successors signed.
- **Head**: the signed document that names the newest root, and contains a hash over the whole list.
- **Manifest**: a text that says which id and which key belong to the name of a branch. Clients need it, because the
  signed directory does not list branches. Only readers of the parent environment can make a manifest.
- **Lease**: a short-lived account or credential on a **lease target**, for example a database.
- **Recovery key**: a key pair of the organization, for which environment keys are also wrapped. Each **custodian** has
  a share of its private key. Enough custodians together can recover the environment keys.
- **Words**: twelve words that are computed from a public key. Two people compare the words, for example by phone. Equal
  words show that the server did not replace the key.

Under **Throws**, each line names a class of errors, the codes of these errors, and the case in which the function
throws them. [Troubleshooting](troubleshooting.md#errors-of-the-api) explains the codes whose case a line does not name.
\`directory_…\` means every code that begins with \`directory_\`: the signed directory is missing, too old or not
valid, or it contradicts the response.`

/** The page with the declaration and the doc comment of every export of the public modules, and of every type that these name. */
export function sdkMarkdown(): string {
  const { exports: map } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    exports: Record<string, string>
  }
  const modules = Object.entries(map).filter(([path]) => !path.startsWith('./internal/'))
  const exported = modules.map(([path, file]) => ({
    name: path.replace(/^\./, '@skerry/sdk'),
    declarations: exportsOf(sourceOf(join(folder, file))),
  }))
  const listed = new Set(exported.flatMap(({ declarations }) => declarations.map(({ statement }) => statement)))
  const sections = exported.map(({ name, declarations }) => {
    const parts = declarations.flatMap((one) => declarationMarkdown(one))
    const types = unlistedTypes(declarations, listed).flatMap(({ type, user }) =>
      declarationMarkdown(
        type,
        `\`${user}\` uses this type. No module of the SDK exports this type, so you cannot import it.`,
      ),
    )
    return [`## \`${name}\``, ...parts, ...types].join('\n\n')
  })
  return `${[head, ...sections].join('\n\n')}\n`
}

/** A type that no module exports, and the name of a declaration that uses it. */
interface UsedType {
  type: Declaration
  user: string
}

/** Finds the types that the declarations name and that are not listed yet, and the types that these name. Adds them to `listed`. */
function unlistedTypes(declarations: Declaration[], listed: Set<ts.Statement>): UsedType[] {
  return declarations.flatMap((one) => {
    const types = typesNamedIn(one).filter(({ statement }) => !listed.has(statement))
    for (const { statement } of types) listed.add(statement)
    return [...types.map((type) => ({ type, user: one.name })), ...unlistedTypes(types, listed)]
  })
}

function declarationMarkdown({ name, statement, source }: Declaration, remark?: string): string[] {
  return [
    `### ${name}`,
    ...(remark === undefined ? [] : [remark]),
    fence(signatureOf(statement, source)),
    ...commentMarkdown(statement),
  ]
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
  const members = declaration.members
    .filter((member) => !isPrivate(member))
    .map((member) => {
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
