import { globSync, readFileSync } from 'node:fs'
import ts from 'typescript'

// A function with more lines does several things, each of which should be a function with a name. Tests are not
// counted, because they are stories with many steps.

const linesMax = 80

const files = globSync('{packages,bench,scripts,examples}/**/*.{ts,tsx,js,mjs}', {
  exclude: (path) => /(?:^|\/)(?:node_modules|dist|test)$|\.test\.tsx?$|\.gen\.ts$/.test(path),
})

let isAnyTooLong = false
for (const file of files) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1
  const visit = (node: ts.Node): void => {
    ts.forEachChild(node, visit)
    if (!ts.isFunctionLike(node)) return
    const first = lineAt(node.getStart())
    const lines = lineAt(node.end) - first + 1
    if (lines <= linesMax) return
    isAnyTooLong = true
    console.log(`${file}:${first}: the function has ${lines} lines. At most ${linesMax} are allowed: split it.`)
  }
  visit(source)
}
if (isAnyTooLong) process.exitCode = 1
