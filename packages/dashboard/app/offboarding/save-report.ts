import { offboardingCsv, offboardingMarkdown } from '@skerry/sdk/internal/offboarding'
import { saveText } from '../ui/save-text.ts'

/** Saves the report of an offboarding as a Markdown document or as CSV. */
export function saveReport(form: 'md' | 'csv', report: Parameters<typeof offboardingMarkdown>[0]): void {
  if (form === 'md') saveText('offboarding.md', 'text/markdown', offboardingMarkdown(report))
  else saveText('offboarding.csv', 'text/csv', offboardingCsv(report))
}
