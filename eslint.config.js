import tseslint from 'typescript-eslint';

export default tseslint.config(
  // AssemblyScript has the syntax of TypeScript, but other types.
  { ignores: ['kernel/', 'dist/', 'out/', '**/out/', 'node_modules/', 'coverage/', '**/*.cjs'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // Numbers in messages are the rule here, not the exception.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // An interface method without an await still returns a promise: callers see one contract.
      '@typescript-eslint/require-await': 'off',
      'max-params': ['error', 4],
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Export by name.' },
        {
          selector: 'ObjectExpression > SpreadElement > ObjectExpression',
          message: 'Write the members themselves: `a, b` for `...{ a, b }`.',
        },
      ],
    },
  },
  {
    // Commands take the terminal that they are given, so that tests can run them without a process.
    files: ['src/cli/**'],
    ignores: ['src/cli/process-terminal.ts'],
    rules: {
      'no-restricted-globals': ['error', { name: 'process', message: 'Take the terminal.' }],
      'no-restricted-imports': ['error', { paths: ['process', 'node:process'] }],
    },
  },
  {
    files: ['*.config.ts', 'test/closing-line-reporter.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
);
